// work_scope.cpp -- `with _Work(...)`: the Python part of an operation.
#include "memory/work_scope.h"

#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "memory/device_pointer.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/array_operation.h>
#include <pycuda/called_function.h>
#include <pycuda/driver_calls.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <utility>

namespace pycuda::python {
namespace {

/// current_stream() is the default stream if the thread's stream is of another context. A stream
/// that the program asks for must not be replaced.
void require_current(StreamRef stream) {
    if (current_stream().get() == stream.get())
        return;
    const Device theirs = Context::borrow(context_of(stream.get())).device();
    const Device ours = Context::require_current().device();
    const auto name = [](const Device &device) { return "cuda:" + std::to_string(device.get()); };
    throw_value_error(
        "the stream is of " +
        (theirs == ours ? "another context on " + name(ours) + " than the work"
                        : "a context on " + name(theirs) + ", but the work is on " + name(ours)) +
        "; pass a stream that was made in the context of the arrays");
}

/// Determines the context first, then the stream and the allocator.
class PythonScope {
  public:
    PythonScope(nb::object stream, nb::object allocator, std::optional<Context> context)
        : stream_(std::move(stream)), allocator_(std::move(allocator)),
          context_(std::move(context)) {}

    void enter() {
        if (context_)
            context_scope_.emplace(*context_);
        if (!stream_.is_none()) {
            const StreamRef stream = stream_ref(stream_);
            stream_scope_.emplace(stream);
            require_current(stream);
        }
        allocator_scope_.emplace(allocator_);
    }
    void exit() {
        allocator_scope_.reset();
        stream_scope_.reset();
        context_scope_.reset();
    }

  private:
    nb::object stream_, allocator_;
    std::optional<Context> context_;
    std::optional<ScopedContext> context_scope_;
    std::optional<StreamScope> stream_scope_;
    std::optional<PythonAllocatorScope> allocator_scope_;
};

/// `with _OutsideCapture():`
class OutsideCapture {
  public:
    void enter() { scope_.emplace(); }
    void exit() { scope_.reset(); }

  private:
    std::optional<WorkOutsideCapture> scope_;
};

FailedCheck::Kind kind_of(nb::handle error) {
    return error.is(PyExc_IndexError)          ? FailedCheck::Kind::Index
           : error.is(PyExc_ValueError)        ? FailedCheck::Kind::Value
           : error.is(PyExc_ZeroDivisionError) ? FailedCheck::Kind::ZeroDivision
                                               : FailedCheck::Kind::LinearAlgebra;
}

bool record(nb::handle failed, nb::handle error, const std::string &message) {
    return record_check(require_array(failed, "failed"),
                        {kind_of(error), called_function("a function of arrays") + ": " + message +
                                             ", in a launch of the graph that recorded the call"},
                        current_stream());
}

} // namespace

void bind_work_scope(nb::module_ &module) {
    module.def(
        "_is_captured", [] { return Work(current_stream()).is_captured(); },
        "Whether the thread's current stream is being captured.");
    module.def(
        "_wait_for_work",
        [] {
            const StreamRef stream = current_stream();
            wait_with_signals(
                [&](const KeepWaiting &keep_waiting) { synchronize(stream, keep_waiting); });
        },
        "Wait for the work of the thread's current stream. Raises LogicError, and leaves the "
        "capture valid, if the stream is being captured.");
    module.def("_record_check", record,
               "If the current stream is being captured, make the next wait for a launch of the "
               "graph raise an error with a message if the one element of ``failed`` is not 0. "
               "Returns False, and does nothing, if the work runs now.\n\n"
               "error: IndexError, ValueError, ZeroDivisionError or LinAlgError.");
    nb::class_<PythonScope>(
        module, "_Work",
        "with _Work(stream, allocator, context): the context is current, array operations of this "
        "thread use the stream, and new arrays memory of the allocator. None leaves it as it is.")
        .def(nb::init<nb::object, nb::object, std::optional<Context>>(),
             nb::arg("stream").none() = nb::none(), nb::arg("allocator").none() = nb::none(),
             nb::arg("context").none() = nb::none())
        .def("__enter__", &PythonScope::enter)
        .def("__exit__", [](PythonScope &self, nb::args) { self.exit(); });
    nb::class_<OutsideCapture>(
        module, "_OutsideCapture",
        "with _OutsideCapture(): work runs now even if the current stream is being captured, and "
        "is done at the end. For results that a cache keeps.")
        .def(nb::init<>())
        .def("__enter__", &OutsideCapture::enter)
        .def("__exit__", [](OutsideCapture &self, nb::args) { self.exit(); });
}

} // namespace pycuda::python
