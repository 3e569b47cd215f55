// state.cpp -- the library's initialisation, which is counted, and the handles of devices.
//
// No function here initialises the driver: a process that only queries the number of devices may
// fork, and its children may use the driver.
#include "call.h"
#include "use.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <mutex>

extern "C" CUresult scuDescribeDevice(int ordinal, ScuDevice *device);

/// A device's handle is the address of its entry in a table.
struct nvmlDevice_st {};

namespace softnvml {
namespace {

constexpr std::size_t kMostDevices = 64; // of SOFTCUDA_DEVICES
std::array<nvmlDevice_st, kMostDevices> handles;

std::mutex mutex;
unsigned users = 0; ///< calls of nvmlInit() without nvmlShutdown()

enum Flag : unsigned { NoDevices = 1, NoAttach = 2, ForceInit = 4 };

nvmlReturn_t initialize(unsigned flags) noexcept {
    return guarded([&] {
        require((flags & ~unsigned{NoDevices | NoAttach | ForceInit}) == 0);
        std::lock_guard lock(mutex);
        if (users == 0)
            begin_samples(device_count());
        users++;
    });
}

} // namespace

void require_initialized() {
    std::lock_guard lock(mutex);
    require(users > 0, NVML_ERROR_UNINITIALIZED);
}

ScuDevice describe(int ordinal) {
    ScuDevice result{};
    const CUresult status = scuDescribeDevice(ordinal, &result);
    // A setting such as SOFTCUDA_DEVICES is wrong; the driver has reported it on stderr.
    require(status == CUDA_SUCCESS, NVML_ERROR_DRIVER_NOT_LOADED);
    return result;
}

int device_count() { return describe(0).count; }

int ordinal_of(nvmlDevice_t device) {
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(device) - reinterpret_cast<std::uintptr_t>(&handles);
    require(offset < sizeof handles);
    const int ordinal = static_cast<int>(offset / sizeof(nvmlDevice_st));
    require(ordinal < device_count());
    return ordinal;
}

nvmlDevice_t handle_of(int ordinal) { return &handles.at(static_cast<std::size_t>(ordinal)); }

void give_text(std::string_view text, char *buffer, unsigned length) {
    require_non_null(buffer);
    require(length > text.size(), NVML_ERROR_INSUFFICIENT_SIZE);
    std::memcpy(buffer, text.data(), text.size());
    buffer[text.size()] = '\0';
}

} // namespace softnvml

using namespace softnvml;

NVML_EXPORT nvmlInit_v2() { return initialize(0); }
NVML_EXPORT nvmlInit() { return initialize(0); }
NVML_EXPORT nvmlInitWithFlags(unsigned flags) { return initialize(flags); }

NVML_EXPORT nvmlShutdown() {
    return guarded([] {
        std::lock_guard lock(mutex);
        require(users > 0, NVML_ERROR_UNINITIALIZED);
        users--;
    });
}
