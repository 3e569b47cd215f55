// jit_options.cpp -- reads the options of cuModuleLoadDataEx and similar functions.
#include "api/jit_options.h"

#include "device/driver_log.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace softcuda::api {
namespace {

/// A number that is passed as a pointer.
unsigned number_in(void *value) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value));
}

} // namespace

JitOptions::JitOptions(unsigned count, const CUjit_option *options, void **values) {
    device::require(count == 0 || (options && values), CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; i++) {
        device::require(options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS,
                        CUDA_ERROR_INVALID_VALUE);
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
            info_.text = static_cast<char *>(values[i]);
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info_.size = &values[i];
            info_.capacity = number_in(values[i]);
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            error_.text = static_cast<char *>(values[i]);
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error_.size = &values[i];
            error_.capacity = number_in(values[i]);
            break;
        case CU_JIT_MAX_REGISTERS:
            most_registers_ = number_in(values[i]);
            break;
        case CU_JIT_WALL_TIME:
            wall_time_ = &values[i];
            break;
        default:
            break;
        }
    }
}

void JitOptions::write(const Buffer &buffer, const std::string &text) {
    if (!buffer.text || !buffer.size)
        return;
    if (buffer.capacity == 0)
        return;
    const std::size_t count = std::min<std::size_t>(text.size(), buffer.capacity - 1);
    std::memcpy(buffer.text, text.data(), count);
    buffer.text[count] = '\0';
    *buffer.size = reinterpret_cast<void *>(static_cast<std::uintptr_t>(count ? count + 1 : 0));
}

void JitOptions::report(const std::string &errors, const std::string &infos,
                        float milliseconds) const {
    if (!errors.empty())
        device::driver_log::add(device::driver_log::Level::Error, errors);
    write(error_, errors);
    write(info_, infos);
    if (wall_time_)
        std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

} // namespace softcuda::api
