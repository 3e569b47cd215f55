// initialize.cpp -- initialisation, version, errors, profiler control.
#include "api/call.h"

#include "device/device.h"
#include "device/driver_log.h"
#include "device/driver_version.h"

#include <cstdio>
#include <cstring>
#include <mutex>

using namespace softcuda;

namespace {

/// The first table without which NVIDIA's runtime does not continue.
constexpr unsigned char primary_context_table[16] = {
    0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};

void report_runtime_of_nvidia() {
    constexpr const char *message =
        "all calls of NVIDIA's CUDA runtime fail here: it works with NVIDIA's driver alone, and "
        "this program contains it or loads it; link the program with softcuda's "
        "(softcuda-config --help), and start it with softcuda-exec";
    std::fprintf(stderr, "softcuda: %s\n", message);
    device::driver_log::add(device::driver_log::Level::Error, message);
}

} // namespace

CUresult cuInit(unsigned int flags) {
    return api::guarded([&] {
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        device::System::start();
    });
}

CUresult cuDriverGetVersion(int *version) {
    return api::guarded([&] {
        api::require_non_null(version);
        *version = device::kDriverVersion;
    });
}

CUresult cuGetErrorName(CUresult error, const char **name) {
    return api::guarded([&] {
        api::require_non_null(name);
        *name = device::result_name(error);
        device::require(*name != nullptr, CUDA_ERROR_INVALID_VALUE);
    });
}

CUresult cuGetErrorString(CUresult error, const char **text) {
    return api::guarded([&] {
        api::require_non_null(text);
        *text = device::result_text(error);
        device::require(*text != nullptr, CUDA_ERROR_INVALID_VALUE);
    });
}

// There is no profiler to control. CUDA also accepts these calls without a profiler.
SCU_EXPORT CUresult cuProfilerStart() {
    return api::with_context<api::InCapture::Permitted>([](device::Context &) {});
}

SCU_EXPORT CUresult cuProfilerStop() {
    return api::with_context<api::InCapture::Permitted>([](device::Context &) {});
}

// There are no undocumented tables. Some programs ignore that their runtime fails, so it is said.
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    return api::guarded([&] {
        api::require_non_null(table, id);
        *table = nullptr;
        static std::once_flag reported;
        if (std::memcmp(id->bytes, primary_context_table, sizeof(id->bytes)) == 0)
            std::call_once(reported, report_runtime_of_nvidia);
        return CUDA_ERROR_NOT_SUPPORTED;
    });
}
