// staged_arguments.cpp -- In, Out and InOut: host arrays as arguments of one call.
#include "launch/staged_arguments.h"

#include "launch/argument_pool.h"
#include "memory/device_pointer.h"
#include "support/allocate.h"
#include "support/interruptible.h"
#include "support/names.h"
#include "support/python_object.h"

#include <pycuda/check_modes.h>
#include <pycuda/copy.h>
#include <pycuda/driver_calls.h>
#include <pycuda/kernel_fault.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace pycuda::python {
namespace {

/// Blocks of the pool are reused in the next call without a wait, which is correct if all calls use
/// one stream.
nb::object allocate(std::size_t bytes, StreamRef queue, const Context &context) {
    return allocate_or_collect([&] {
        return queue.get() == nullptr && bytes <= ArgumentPool::most_bytes
                   ? nb::cast(ArgumentPool::instance().allocate(bytes))
                   : nb::cast(DeviceMemory(context, bytes));
    });
}

/// Whether memory belongs to the context; true for memory of no context, as that of driver pools.
bool is_of(const Context &context, nb::handle allocation) {
    const CUcontext owner = context_of(device_address(allocation, "dev_alloc"));
    return owner == nullptr || owner == context.get();
}

nb::object attribute(nb::handle object, PyObject *name) {
    nb::object found = made(PyObject_GetAttr(object.ptr(), name));
    return found;
}

/// True if no other code can access the handler after the call, so its device memory need not be
/// kept.
bool is_temporary(nb::handle handler) noexcept {
#if PY_VERSION_HEX >= 0x030E0000 && !defined(Py_LIMITED_API)
    return PyUnstable_Object_IsUniqueReferencedTemporary(handler.ptr());
#else
    return Py_REFCNT(handler.ptr()) == 1;
#endif
}

constexpr std::size_t rounded(std::size_t bytes) {
    constexpr std::size_t alignment = 256; // the driver's alignment, which is also good for DMA
    return (bytes + alignment - 1) & ~(alignment - 1);
}

/// The device memory of the array, kept in the handler for its next call in the same context. An
/// array without elements has none, because a kernel must not access it.
nb::object argument_memory(nb::handle handler, std::size_t bytes, StreamRef queue,
                           const Context &context) {
    nb::object allocation = attribute(handler, names.dev_alloc);
    if (bytes == 0 || (!allocation.is_none() && is_of(context, allocation)))
        return allocation;
    allocation = allocate(bytes, queue, context);
    if (PyObject_SetAttr(handler.ptr(), names.dev_alloc, allocation.ptr()) != 0)
        throw nb::python_error();
    return allocation;
}

void copy_in(const HostBuffer &from, CUdeviceptr to, StreamRef queue) {
    if (queue.get() != nullptr || from.size() <= StagedArguments::slab_bytes)
        return copy_to_device_async(to, from.data(), from.size(), queue);
    wait_with_signals([&](const KeepWaiting &keep_waiting) {
        copy_to_device(to, from.data(), from.size(), keep_waiting);
    });
}

void copy_out(const HostBuffer &to, CUdeviceptr from, const Work &work) {
    wait_with_signals([&](const KeepWaiting &keep_waiting) {
        copy_to_host(to.data(), from, to.size(), work, keep_waiting);
    });
}

void wait_for(StreamRef queue) {
    wait_with_signals([&](const KeepWaiting &keep_waiting) { synchronize(queue, keep_waiting); });
}

/// Calls `body`; adds the name of the last launched kernel and describe(result) to its error.
template <class Body, class Describe>
void naming_kernel(const Function &function, Body &&body, Describe &&describe) {
    try {
        body();
    } catch (const Interrupted &) {
        throw;
    } catch (const Error &error) {
        const std::string extra =
            "after the launch of kernel '" + function.name() + "'" + describe(error.result());
        throw Error(error.function(), error.result(),
                    error.extra().empty() ? extra : error.extra() + ", " + extra);
    }
}

} // namespace

CUdeviceptr StagedArguments::add(nb::handle handler, int direction, std::size_t index) {
    use_.require_running("a call with In, Out or InOut");
    const nb::object array = attribute(handler, names.array);
    HostBuffer buffer = direction & Out ? HostBuffer::to_write(array, "the array of Out or InOut")
                                        : HostBuffer::to_read(array, "the array of In");
    const std::size_t bytes = buffer.size();
    // Check modes find accesses past the end only if the array has a separate block.
    const bool in_slab = queue_.get() == nullptr && rounded(bytes) <= slab_bytes - slab_used_ &&
                         bytes != 0 && is_temporary(handler) &&
                         attribute(handler, names.dev_alloc).is_none() && check_modes() == 0;
    nb::object allocation =
        in_slab ? nb::none()
                : argument_memory(handler, bytes, queue_,
                                  context_ ? *context_ : Context::require_current());
    const CUdeviceptr address = in_slab                ? place_in_slab(bytes)
                                : allocation.is_none() ? 0
                                                       : device_address(allocation, "dev_alloc");
    if (stages_.empty())
        stages_.reserve(4);
    stages_.push_back({handler, std::move(allocation), direction, address, std::move(buffer), index,
                       false, in_slab, nullptr});
    return address;
}

CUdeviceptr StagedArguments::place_in_slab(std::size_t bytes) {
    if (!slab_)
        slab_.emplace(
            allocate_or_collect([] { return ArgumentPool::instance().allocate(slab_bytes); }));
    return slab_->get() + std::exchange(slab_used_, slab_used_ + rounded(bytes));
}

CUdeviceptr StagedArguments::add_custom(nb::handle handler) {
    const CUdeviceptr address =
        device_address(nb::object(handler.attr("get_device_alloc")()), "get_device_alloc()");
    stages_.push_back({handler, {}, 0, address, HostBuffer(), 0, true, false, nullptr});
    return address;
}

/// The part of the slab to copy, from the first to the last array of this direction. It may also
/// contain results that the kernel will write, or data that it has read.
StagedArguments::Span StagedArguments::slab_span(int direction) const {
    Span span;
    for (const Stage &stage : stages_)
        if (stage.in_slab && stage.direction & direction) {
            const std::size_t begin = stage.address - slab_->get();
            if (span.size() == 0)
                span.begin = begin;
            span.end = begin + stage.buffer.size();
        }
    return span;
}

/// One block for the image of the slab and for small results outside of the slab.
void StagedArguments::allocate_pinned() {
    auto fits = [](const Stage &stage) {
        return stage.direction & Out && stage.buffer.size() != 0 &&
               stage.buffer.size() <= slab_bytes && !stage.in_slab;
    };
    std::size_t total = slab_used_;
    for (const Stage &stage : stages_)
        total += fits(stage) ? rounded(stage.buffer.size()) : 0;
    if (total == 0)
        return;
    pinned_.emplace(
        allocate_or_collect([&] { return ArgumentPool::instance().allocate_pinned(total); }));
    auto *const image = static_cast<std::byte *>(pinned_->data());
    std::byte *next = image + slab_used_;
    for (Stage &stage : stages_)
        if (stage.in_slab)
            stage.pinned = image + (stage.address - slab_->get());
        else if (fits(stage))
            stage.pinned = std::exchange(next, next + rounded(stage.buffer.size()));
}

void StagedArguments::copy_slab_in() {
    const Span span = slab_span(In);
    const Stage *only = nullptr;
    int count = 0;
    for (const Stage &stage : stages_)
        if (stage.in_slab && stage.direction & In) {
            only = &stage;
            ++count;
        }
    if (count == 0)
        return;
    if (count == 1 && span.size() <= most_queued_bytes)
        return copy_to_device_async(only->address, only->buffer.data(), span.size(), queue_);
    thread_local std::array<std::byte, most_queued_bytes>
        gathered; // pageable memory, so the driver copies it before it returns
    in_flight_ = span.size() > gathered.size();
    std::byte *const from =
        in_flight_ ? static_cast<std::byte *>(pinned_->data()) + span.begin : gathered.data();
    for (const Stage &stage : stages_)
        if (stage.in_slab && stage.direction & In)
            std::memcpy(from + (stage.address - slab_->get() - span.begin), stage.buffer.data(),
                        stage.buffer.size());
    copy_to_device_async(slab_->get() + span.begin, from, span.size(), queue_);
}

void StagedArguments::copy_inputs(nb::handle stream) {
    allocate_pinned();
    if (slab_)
        copy_slab_in();
    for (Stage &stage : stages_) {
        if (stage.custom)
            stage.handler.attr("pre_call")(stream);
        else if (stage.direction & In && stage.buffer.size() != 0 && !stage.in_slab)
            copy_in(stage.buffer, stage.address, queue_);
    }
    // The caller may change the arrays after the call, so the copies must be complete.
    if (!anything_after()) {
        wait_with_signals(
            [&](const KeepWaiting &keep_waiting) { synchronize(queue_, keep_waiting); });
        in_flight_ = false;
    }
}

bool StagedArguments::anything_after() const {
    return std::any_of(stages_.begin(), stages_.end(), [](const Stage &stage) {
        return stage.custom ? nb::hasattr(stage.handler, "post_call") : stage.direction & Out;
    });
}

/// Where the address of a failed access is, relative to the array that the kernel accessed. The
/// driver knows only the block of a pool, in which several arrays may be.
std::string StagedArguments::describe_fault(CUresult result) const {
    const std::optional<KernelFault> fault = last_kernel_fault(result);
    if (!fault || !fault->address || !fault->parameter)
        return "";
    for (const Stage &stage : stages_) {
        if (stage.custom || stage.index != *fault->parameter)
            continue;
        const CUdeviceptr end = stage.address + stage.buffer.size();
        if (*fault->address >= stage.address && *fault->address < end)
            return "";
        const std::string where =
            *fault->address >= end
                ? std::to_string(*fault->address - end) + " bytes after its end"
                : std::to_string(stage.address - *fault->address) + " bytes before it";
        return ", whose argument " + std::to_string(stage.index) + " is an array of " +
               std::to_string(stage.buffer.size()) + " bytes; the address is " + where;
    }
    return "";
}

void StagedArguments::copy_results(const Function &function, nb::handle stream) {
    if (!anything_after())
        return;
    auto is_pinned_out = [](const Stage &stage) { return stage.pinned && stage.direction & Out; };
    in_flight_ = true;
    auto copy_and_wait = [&] {
        if (const Span span = slab_span(Out); span.size() != 0)
            copy_to_host_async(static_cast<std::byte *>(pinned_->data()) + span.begin,
                               slab_->get() + span.begin, span.size(), queue_);
        for (const Stage &stage : stages_)
            if (is_pinned_out(stage) && !stage.in_slab)
                copy_to_host_async(stage.pinned, stage.address, stage.buffer.size(), queue_);
        wait_for(queue_);
    };
    naming_kernel(function, copy_and_wait, [&](CUresult result) { return describe_fault(result); });
    in_flight_ = false;
    for (Stage &stage : stages_) {
        if (stage.custom && nb::hasattr(stage.handler, "post_call"))
            stage.handler.attr("post_call")(stream);
        else if (is_pinned_out(stage))
            std::memcpy(stage.buffer.data(), stage.pinned, stage.buffer.size());
        else if (stage.direction & Out && stage.buffer.size() != 0)
            copy_out(stage.buffer, stage.address, use_);
    }
}

/// If a wait was interrupted, a copy may still be running.
StagedArguments::~StagedArguments() {
    if (pinned_ && in_flight_)
        ArgumentPool::instance().abandon(*std::move(pinned_));
}

void wait_for_kernel(const Function &function, StreamRef queue) {
    naming_kernel(function, [&] { wait_for(queue); }, [](CUresult) { return std::string(); });
}

} // namespace pycuda::python
