// staging.cpp -- copies host data to device memory for kernel arguments.
#include <pycuda/staging.h>

namespace pycuda {

const DeviceMemory &StagedArgument::device() {
    if (!memory_)
        memory_.emplace(bytes_);
    return *memory_;
}

void StagedArgument::before_launch(StreamRef stream) {
    if (direction_ != Direction::Out)
        copy_to_device_async(device().get(), host_, bytes_, stream);
}

void StagedArgument::after_launch(const KeepWaiting &keep_waiting) {
    if (direction_ != Direction::In)
        copy_to_host(host_, device().get(), bytes_, keep_waiting);
}

} // namespace pycuda
