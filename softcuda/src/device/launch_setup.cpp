// launch_setup.cpp -- stores block shape, size of shared memory and bytes of parameters.
#include "device/launch_setup.h"

#include "device/error.h"

#include <algorithm>
#include <cstring>

namespace softcuda::device {

void LaunchSetup::set_block(int x, int y, int z) {
    require(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE);
    std::lock_guard lock(mutex_);
    described_.block = {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                        static_cast<std::uint32_t>(z)};
}

void LaunchSetup::set_dynamic_shared(std::uint32_t bytes) {
    std::lock_guard lock(mutex_);
    described_.dynamic_shared_bytes = bytes;
}

void LaunchSetup::set_parameter_bytes(std::size_t bytes) {
    require(bytes <= kLargestParameters, CUDA_ERROR_INVALID_VALUE);
    std::lock_guard lock(mutex_);
    parameter_bytes_ = bytes;
}

void LaunchSetup::set_parameter(int offset, const void *from, std::size_t bytes) {
    require(offset >= 0 && bytes <= kLargestParameters &&
                static_cast<std::size_t>(offset) + bytes <= kLargestParameters &&
                (from || bytes == 0),
            CUDA_ERROR_INVALID_VALUE);
    if (bytes == 0)
        return;
    std::lock_guard lock(mutex_);
    const std::size_t end = static_cast<std::size_t>(offset) + bytes;
    if (described_.parameters.size() < end)
        described_.parameters.resize(end);
    std::memcpy(described_.parameters.data() + offset, from, bytes);
}

LaunchSetup::Described LaunchSetup::described() const {
    std::lock_guard lock(mutex_);
    Described result = described_;
    result.parameters.resize(parameter_bytes_);
    return result;
}

} // namespace softcuda::device
