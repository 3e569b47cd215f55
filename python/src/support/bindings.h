// bindings.h -- the parts of the module, one for each .cpp of this folder.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace pycuda::python {

void bind_errors(nb::module_ &module);
void bind_enums(nb::module_ &module);
void bind_init(nb::module_ &module);
void bind_check_modes(nb::module_ &module);
void bind_profile(nb::module_ &module);
void bind_device(nb::module_ &module);
void bind_context(nb::module_ &module);
void bind_stream(nb::module_ &module);
void bind_event(nb::module_ &module);
void bind_device_memory(nb::module_ &module);
void bind_host_function(nb::module_ &module);
void bind_host_memory(nb::module_ &module);
void bind_memory_pool(nb::module_ &module);
void bind_copy(nb::module_ &module);
void bind_fill(nb::module_ &module);
void bind_cuda_array(nb::module_ &module);
void bind_structured_copy(nb::module_ &module);
void bind_linker(nb::module_ &module);
void bind_graph(nb::module_ &module);
void bind_stream_memory(nb::module_ &module);
void bind_virtual_memory(nb::module_ &module);
void bind_green_context(nb::module_ &module);
void bind_graphics(nb::module_ &module);
void bind_texture(nb::module_ &module);
void bind_tensor_map(nb::module_ &module);
void bind_module(nb::module_ &module);
void bind_function(nb::module_ &module);
void bind_array(nb::module_ &module);
void bind_array_algorithms(nb::module_ &module);
void bind_array_libraries(nb::module_ &module);
void bind_array_rows(nb::module_ &module);
void bind_array_sparse(nb::module_ &module);
void bind_compiler(nb::module_ &module);
void bind_elementwise(nb::module_ &module);
void bind_reduction(nb::module_ &module);
void bind_scan(nb::module_ &module);
void bind_nccl(nb::module_ &module);
void bind_kernel_choice(nb::module_ &module);
void bind_work_scope(nb::module_ &module);
void bind_array_function(nb::module_ &module);

} // namespace pycuda::python
