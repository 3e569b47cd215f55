// initialize.cpp -- initialisation, version, errors, profiler control.
#include "api/call.h"

#include "device/device.h"
#include "device/driver_version.h"

using namespace softcuda;

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
