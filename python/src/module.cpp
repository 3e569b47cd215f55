// module.cpp -- defines pycuda._driver by calling the functions of the other files.
#include "support/bindings.h"

#include "support/call_errors.h"
#include "support/names.h"

NB_MODULE(_main_interpreter_driver, module) {
    using namespace pycuda::python;
    module.attr("__doc__") = "The CUDA driver API, as pycuda.driver shows it.";
    nb::set_leak_warnings(false); // objects that exist at exit are not freed: see init.cpp

    intern_names();
    bind_errors(module);
    bind_enums(module);
    bind_init(module);
    bind_check_modes(module);
    bind_profile(module);

    bind_device(module);
    bind_context(module);
    bind_stream(module);
    bind_event(module);

    bind_device_memory(module);
    bind_host_memory(module);
    bind_memory_pool(module);
    bind_copy(module);
    bind_fill(module);
    bind_cuda_array(module);
    bind_structured_copy(module);

    bind_module(module);
    bind_function(module);
    bind_linker(module);
    bind_graph(module);
    bind_stream_memory(module);
    bind_host_function(module);
    bind_virtual_memory(module);
    bind_green_context(module);
    bind_graphics(module);
    bind_texture(module);
    bind_tensor_map(module);
    bind_compiler(module);

    bind_elementwise(module);
    bind_array(module);
    bind_array_algorithms(module);
    bind_array_libraries(module);
    bind_array_rows(module);
    bind_array_sparse(module);
    bind_reduction(module);
    bind_scan(module);
    bind_nccl(module);
    bind_kernel_choice(module);
    bind_work_scope(module);
    bind_array_function(module);
    describe_call_errors(module);
}

/// The module's state is one for the process. A sub-interpreter is refused before nanobind, whose
/// state is one for the process, too, reads that of the other interpreter.
extern "C" NB_EXPORT PyObject *PyInit__driver();
extern "C" NB_EXPORT PyObject *PyInit__driver() {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return PyInit__main_interpreter_driver();
    PyErr_SetString(PyExc_ImportError,
                    "pycuda works in the main interpreter of a process, and this is a "
                    "sub-interpreter; use a thread or a process (multiprocessing)");
    return nullptr;
}
