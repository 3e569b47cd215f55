// init.cpp -- initialisation, versions, the profiler, and the end of the process.
//
// At exit, our code must not abort or print messages, whatever objects still exist. An atexit
// function makes core leave all objects to the operating system. Python calls it before it destroys
// its modules. If softcuda looks for leaks, objects are destroyed as Python ends, and what remains
// is a leak.
#include "support/bindings.h"

#include "support/interruptible.h"

#include <pycuda/caller_lock.h>
#include <pycuda/check_modes.h>
#include <pycuda/driver_calls.h>
#include <pycuda/init.h>
#include <pycuda/softcuda_library.h>

#include <nanobind/stl/string.h>

#include <dlfcn.h>

namespace pycuda::python {
namespace {

nb::tuple header_version_tuple() {
    int version = header_version();
    return nb::make_tuple(version / 1000, version % 1000 / 10, version % 10);
}

void init_without_gil(unsigned flags) {
    nb::gil_scoped_release release;
    init(flags);
}

/// The state of the thread that holds the GIL, or null. The headers of the stable ABI lack this
/// function; its name is public since Python 3.13. PyGILState_Check() is no help: it is always true
/// in a process with sub-interpreters.
PyThreadState *(*current_state)() = nullptr;

void find_current_state() {
    for (const char *name : {"PyThreadState_GetUnchecked", "_PyThreadState_UncheckedGet"})
        if (void *function = ::dlsym(RTLD_DEFAULT, name)) {
            current_state = reinterpret_cast<PyThreadState *(*)()>(function);
            return;
        }
    throw nb::import_error("pycuda needs a Python that exports _PyThreadState_UncheckedGet()");
}

bool holds_gil() {
    PyThreadState *state = current_state();
    return state != nullptr && state == PyGILState_GetThisThreadState();
}

/// Null if this thread does not hold the GIL.
void *release_gil() { return holds_gil() ? PyEval_SaveThread() : nullptr; }

void leave_objects_to_process() {
    const bool finds_leaks = driver_is_usable() && (check_modes() & check_mode::mem) != 0;
    if (!finds_leaks)
        set_finalizing();
}

void acquire_gil(void *state) { PyEval_RestoreThread(static_cast<PyThreadState *>(state)); }

/// softcuda is a separate package, which may be installed in another folder.
void find_softcuda() {
    nb::object path = nb::module_::import_("softcuda").attr("LIBRARY");
    set_softcuda_library(nb::cast<std::string>(path));
}

} // namespace

void bind_init(nb::module_ &module) {
    module.def(
        "init", init_without_gil, nb::arg("flags") = 0,
        "Initialise the driver. Call it before every other function; pycuda.autoinit does so.\n\n"
        "flags: must be 0.\n\n"
        "A second call does nothing. Raises RuntimeError if there is no device, and LogicError for "
        "other flags.");
    module.def(
        "get_version", header_version_tuple,
        "The CUDA version of the headers that PyCUDA was built with: (major, minor, revision).\n\n"
        "get_driver_version() is the version of the driver in use.");
    module.def(
        "get_driver_version", driver_version,
        "Return the newest CUDA version that the driver supports, as an int: 13000 is CUDA "
        "13.0.\n\n"
        "The number is 1000 * major + 10 * minor. get_version() is the version that PyCUDA was "
        "built for.\n\n"
        ">>> cuda.get_driver_version() >= 11020\n"
        "True");
    module.def(
        "get_driver_path", [] { return driver_path(); },
        "Return the path of the driver library in use: NVIDIA's libcuda.so.1, or softcuda's "
        "libsoftcuda.so.\n\n"
        "The first use of the driver chooses the library; see PYCUDA_DRIVER.\n\n"
        ">>> \"cuda.so\" in cuda.get_driver_path()\n"
        "True");
    module.def(
        "initialize_profiler",
        [](const std::string &, const std::string &, int) {
            // CUDA 12 removed cuProfilerInitialize; it returned this result before.
            throw Error(
                "cuProfilerInitialize", CUDA_ERROR_NOT_SUPPORTED,
                "CUDA removed this function; make profiles with Nsight Systems or Nsight Compute, "
                "and mark the part to collect by start_profiler() and stop_profiler()");
        },
        nb::arg("config_file"), nb::arg("output_file"), nb::arg("output_mode"),
        "Always raises LogicError: CUDA removed the configurable profiler.\n\n"
        "The parameters are those of PyCUDA.");
    module.def(
        "start_profiler", start_profiler,
        "Start collecting profiles in a program that runs under NVIDIA's profilers.\n\n"
        "Without a profiler the call does nothing. pycuda.profile() records a profile without "
        "another program.");
    module.def("stop_profiler", stop_profiler,
               "Stop collecting profiles in a program that runs under NVIDIA's profilers.\n\n"
               "start_profiler() begins to collect. Without a profiler the call does nothing.");

    find_softcuda();
    find_current_state();
    set_caller_lock({release_gil, acquire_gil});
    handle_signals_in_driver();
    nb::module_::import_("atexit").attr("register")(nb::cpp_function(leave_objects_to_process));
}

} // namespace pycuda::python
