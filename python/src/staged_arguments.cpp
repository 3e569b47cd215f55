// staged_arguments.cpp -- In, Out and InOut: host arrays as arguments of one call.
#include "staged_arguments.h"

#include "allocate.h"
#include "device_pointer.h"
#include "interruptible.h"
#include "python_object.h"

#include <pycuda/copy.h>

#include <algorithm>

namespace pycuda::python {
namespace {

/// The stand-in on the device, kept in the handler for its next call. An array of no elements has
/// none, as a kernel must not touch it.
CUdeviceptr stand_in(nb::handle handler, std::size_t bytes) {
    nb::object allocation = handler.attr("dev_alloc");
    if (allocation.is_none() && bytes != 0) {
        allocation = nb::cast(allocate_or_collect([&] { return DeviceMemory(bytes); }));
        handler.attr("dev_alloc") = allocation;
    }
    return allocation.is_none() ? 0 : device_address(allocation, "dev_alloc");
}

/// A copy in a stream must be over before the host goes on: the caller may change the array.
void copy_in(CUdeviceptr to, const HostBuffer &from, StreamRef queue) {
    wait_without_gil([&](const KeepWaiting &keep_waiting) {
        if (queue.get() == nullptr)
            return copy_to_device(to, from.data(), from.size(), keep_waiting);
        copy_to_device_async(to, from.data(), from.size(), queue);
        synchronize(queue, keep_waiting);
    });
}

void copy_out(const HostBuffer &to, CUdeviceptr from, StreamRef queue) {
    wait_without_gil([&](const KeepWaiting &keep_waiting) {
        if (queue.get() == nullptr)
            return copy_to_host(to.data(), from, to.size(), keep_waiting);
        copy_to_host_async(to.data(), from, to.size(), queue);
        synchronize(queue, keep_waiting);
    });
}

} // namespace

CUdeviceptr StagedArguments::add(nb::handle handler, int direction) {
    nb::object array = handler.attr("array");
    HostBuffer buffer = direction & Out ? HostBuffer::to_write(array, "the array of Out or InOut")
                                        : HostBuffer::to_read(array, "the array of In");
    const CUdeviceptr address = stand_in(handler, buffer.size());
    stages_.push_back({handler, direction, address, std::move(buffer), false});
    return address;
}

CUdeviceptr StagedArguments::add_custom(nb::handle handler) {
    const CUdeviceptr address =
        device_address(nb::object(handler.attr("get_device_alloc")()), "get_device_alloc()");
    stages_.push_back({handler, 0, address, HostBuffer(), true});
    return address;
}

void StagedArguments::before_launch(StreamRef queue, nb::handle stream) {
    for (Stage &stage : stages_) {
        if (stage.custom)
            stage.handler.attr("pre_call")(stream);
        else if (stage.direction & In && stage.buffer.size() != 0)
            copy_in(stage.address, stage.buffer, queue);
    }
}

bool StagedArguments::anything_after() const {
    return std::any_of(stages_.begin(), stages_.end(), [](const Stage &stage) {
        return stage.custom ? nb::hasattr(stage.handler, "post_call") : stage.direction & Out;
    });
}

void StagedArguments::after_launch(const Function &function, StreamRef queue, nb::handle stream) {
    if (!anything_after())
        return;
    wait_for_kernel(function, queue);
    for (Stage &stage : stages_) {
        if (stage.custom && nb::hasattr(stage.handler, "post_call"))
            stage.handler.attr("post_call")(stream);
        else if (stage.direction & Out && stage.buffer.size() != 0)
            copy_out(stage.buffer, stage.address, queue);
    }
}

void wait_for_kernel(const Function &function, StreamRef queue) {
    try {
        wait_without_gil(
            [&](const KeepWaiting &keep_waiting) { synchronize(queue, keep_waiting); });
    } catch (const Interrupted &) {
        throw;
    } catch (const Error &error) {
        std::string extra = "after the launch of kernel '" + function.name() + "'";
        throw Error(error.function(), error.result(),
                    error.extra().empty() ? extra : error.extra() + ", " + extra);
    }
}

} // namespace pycuda::python
