// profile.cpp -- softcuda's profile for pycuda.profile.
#include "support/bindings.h"

#include <pycuda/noted_operation.h>
#include <pycuda/profile.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

nb::list launches() {
    nb::list result;
    for (const OperationLaunches &one : operation_launches())
        result.append(nb::make_tuple(
            one.kernel, nb::make_tuple(one.grid[0], one.grid[1], one.grid[2]),
            nb::make_tuple(one.block[0], one.block[1], one.block[2]), one.shared_bytes,
            nb::bytes(one.operation.data(), one.operation.size())
                .attr("decode")("utf-8", "replace"),
            one.count));
    return result;
}

} // namespace

void bind_profile(nb::module_ &module) {
    module.def("_profile_modes", profile_modes,
               "The bits of the profile's modes that are on: 1 timeline, 2 counters.");
    module.def("_set_profile_modes", set_profile_modes,
               "Turn these modes of the profile on, and the others off.");
    module.def("_profile_report", profile_report, "The record so far, as JSON text.");
    module.def("_note_host_work", note_host_work,
               "Add work of this thread to the timeline: monotonic nanoseconds.");
    module.def("_note_operations", note_operations,
               "Record which operations on arrays launch kernels, or stop this. A change of the "
               "profile's modes does the same.");
    module.def("_operation_launches", launches,
               "The launches of array kernels by operations: a list of (kernel, grid, block, "
               "dynamic shared memory, operation, number).");
    module.def("_forget_profile", forget_profile, "Empty the record.");
}

} // namespace pycuda::python
