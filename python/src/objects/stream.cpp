// stream.cpp -- pycuda.driver.Stream.
#include "support/bindings.h"

#include "memory/device_pointer.h"
#include "memory/work_scope.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/driver_calls.h>
#include <pycuda/error.h>
#include <pycuda/event.h>
#include <pycuda/kept_objects.h>
#include <pycuda/stream.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

namespace pycuda::python {
namespace {

void synchronize_stream(const Stream &stream) {
    wait_with_signals([&](const KeepWaiting &keep_waiting) { stream.synchronize(keep_waiting); });
    release_kept_objects();
}

std::uintptr_t required_handle_of(const Stream &stream) {
    return reinterpret_cast<std::uintptr_t>(stream.require());
}

/// A `with stream:` block of this thread that has not ended.
struct Block {
    PyObject *stream; ///< a reference
    CurrentStream outer;
};

/// Never freed: blocks of generators may be open when the thread ends.
std::vector<Block> &blocks() {
    thread_local auto *const blocks = new std::vector<Block>;
    return *blocks;
}

nb::object enter_block(nb::object self) {
    const Stream &stream = nb::cast<const Stream &>(self);
    const CurrentStream current(stream);
    blocks().push_back({self.ptr(), {}});
    self.inc_ref();
    blocks().back().outer = exchange_current_stream(current);
    return self;
}

/// Ends the innermost block of this stream, even if it is not the innermost block of the thread:
/// blocks of generators may end in any order.
void exit_block(nb::handle self, nb::args) {
    std::vector<Block> &open = blocks();
    const auto found = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Block &block) { return block.stream == self.ptr(); });
    if (found == open.rend())
        throw Error("Stream.__exit__", CUDA_ERROR_ILLEGAL_STATE,
                    "this thread has not entered the stream: a `with stream:` block must end in "
                    "the thread in which it begins");
    const auto ended = std::prev(found.base());
    if (const auto next = std::next(ended); next != open.end())
        next->outer = ended->outer;
    else
        exchange_current_stream(ended->outer);
    open.erase(ended);
    self.dec_ref();
}

Stream from_handle(std::uintptr_t handle) {
    return Stream::borrow(reinterpret_cast<CUstream>(handle), Context::require_current());
}

std::string represent(const Stream &stream) {
    if (stream.closed())
        return "<pycuda.driver.Stream, closed>";
    return shown_with_handle("Stream", stream.get());
}

} // namespace

void bind_stream(nb::module_ &module) {
    module.def(
        "_stream_number", in_work_scope(+[](nb::handle) -> std::optional<std::uintptr_t> {
            const StreamRef stream = current_stream();
            if (!stream.is_default())
                return reinterpret_cast<std::uintptr_t>(stream.get());
            return default_stream_is_idle() ? std::nullopt : std::optional<std::uintptr_t>(1);
        }),
        nb::arg("array").none() = nb::none(),
        "The number by which __cuda_array_interface__ names the stream of work on an array; 1 is "
        "the default stream, and None says that there is no work to wait for.");
    nb::class_<Stream>(module, "Stream", nb::dynamic_attr(), nb::is_weak_referenceable(),
                       "A queue of work on the device of the current context. The work runs in the "
                       "order of the calls.\n\n"
                       "flags: 0, or stream_flags.NON_BLOCKING for a stream that does not wait for "
                       "the default stream.\n"
                       "priority: lower numbers are more urgent; 0 is the default. The driver "
                       "clips the number to its range.\n\n"
                       "``with stream:`` makes the stream the thread's current stream: kernels, "
                       "copies and operations on arrays use it.\n\n"
                       ">>> stream = cuda.Stream()\n"
                       ">>> with stream:\n"
                       "...     x = gpuarray.zeros(3) + 1\n"
                       ">>> stream.synchronize()")
        .def(nb::init<unsigned, int>(), nb::arg("flags") = 0, nb::arg("priority") = 0)
        .def_static("from_handle", from_handle, nb::arg("handle"),
                    "A Stream for a CUstream that other code owns.\n\n"
                    "handle: the CUstream as an int. The other code must keep it alive.")
        .def("synchronize", synchronize_stream,
             "Wait for all work in the stream. Ctrl-C ends the wait.\n\n"
             "Raises the error of a kernel that failed, and LogicError if the stream was closed.")
        .def(
            "is_done", &Stream::query,
            "Return True if all work in the stream is done, else False. Does not wait.\n\n"
            "Raises the error of a kernel that failed, and LogicError if the stream was closed.\n\n"
            ">>> stream = cuda.Stream()\n"
            ">>> stream.is_done()\n"
            "True")
        .def("wait_for_event", &Stream::wait, nb::arg("evt"),
             "Let later work of this stream wait for an event. The call itself does not wait.\n\n"
             "evt: an Event that was recorded in any stream, also of another device. An event that "
             "was never recorded is\n"
             "  no reason to wait.\n\n"
             ">>> first, second = cuda.Stream(), cuda.Stream()\n"
             ">>> done = cuda.Event().record(first)\n"
             ">>> second.wait_for_event(done)")
        .def_prop_ro("handle", required_handle_of, "The CUstream, as an int.")
        .def_prop_ro("priority", &Stream::priority,
                     "The priority: lower numbers are more urgent, and 0 is the default.\n\n"
                     "The device starts blocks of waiting kernels in streams of higher urgency "
                     "first; it does not interrupt running blocks.\n"
                     "The number may differ from the constructor's argument, because the driver "
                     "clips that to its range.")
        .def_prop_ro("flags", &Stream::flags,
                     "The flags that the stream was made with, a sum of stream_flags.")
        .def("__enter__", enter_block)
        .def("__exit__", exit_block)
        .def("close", &Stream::close, nb::lock_self(),
             "Destroy the stream now. Queued work still runs.\n\n"
             "A second call does nothing. Other functions raise LogicError for a closed stream.")
        .def("__cuda_stream__",
             [](const Stream &stream) { return nb::make_tuple(0, required_handle_of(stream)); })
        .def("__repr__", represent);
}

} // namespace pycuda::python
