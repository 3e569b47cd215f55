// host_function.cpp -- Python functions as work of a stream.
//
// A function runs in a thread of the driver, and the driver must not be called there. What the
// function refers to may own memory, streams and contexts of the device, so its last reference is
// dropped in a thread of Python.
#include "support/bindings.h"

#include "arrays/array_scope.h"
#include "memory/device_pointer.h"
#include "support/python_object.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/init.h>
#include <pycuda/kept_objects.h>
#include <pycuda/work.h>

#include <memory>
#include <utility>

namespace pycuda::python {
namespace {

/// Calls the function, with the GIL. An exception is printed.
void call(nb::handle function) {
    try {
        function();
    } catch (nb::python_error &error) {
        error.restore();
        PyErr_WriteUnraisable(function.ptr());
    }
}

bool has_interpreter() { return !finalizing() && Py_IsInitialized(); }

/// A function that needs the GIL.
struct Queued {
    nb::object function;
    CallerLockUse use;
};

int release_kept(void *) {
    release_kept_objects();
    return 0;
}

/// Owns the function. The main thread releases it soon, or any thread when it next waits or
/// allocates.
void CUDA_CB call_once(void *queued) {
    if (!has_interpreter())
        return;
    const nb::gil_scoped_acquire acquire;
    const std::unique_ptr<Queued> owned(static_cast<Queued *>(queued));
    call(owned->function);
    release_later(keep_alive(std::move(owned->function)));
    (void)Py_AddPendingCall(release_kept, nullptr);
}

/// The graph owns the function, and may run again.
void CUDA_CB call_recorded(void *function) {
    if (!has_interpreter())
        return;
    const nb::gil_scoped_acquire acquire;
    call(static_cast<PyObject *>(function));
}

void launch_host_func(nb::object function, nb::handle stream) {
    if (!PyCallable_Check(function.ptr()))
        throw_type_error("func must be callable, not " + name_of_type(function));
    Work work(stream_ref(stream));
    if (work.is_captured()) {
        PyObject *called = function.ptr();
        work.keep_in_graph(keep_alive(std::move(function)));
        work.keep_in_graph(std::make_shared<CallerLockUse>());
        driver().cuLaunchHostFunc(work.stream().get(), call_recorded, called);
        return;
    }
    auto queued = std::make_unique<Queued>(std::move(function));
    driver().cuLaunchHostFunc(work.stream().get(), call_once, queued.get());
    (void)queued.release(); // call_once owns it now
}

} // namespace

void bind_host_function(nb::module_ &module) {
    module.def("launch_host_func", launch_host_func, nb::arg("func"),
               nb::arg("stream") = nb::none(),
               "Call a Python function as work of a stream: after all earlier work, and before all "
               "later work.\n\n"
               "func: a function without arguments. It runs in a thread of the driver, and must "
               "not call the driver. An exception\n"
               "  is printed and does not reach the program.\n"
               "stream: a Stream; by default the thread's current stream.");
}

} // namespace pycuda::python
