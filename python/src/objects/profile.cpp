// profile.cpp -- softcuda's profile for pycuda.profile.
#include "support/bindings.h"

#include <pycuda/profile.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {

void bind_profile(nb::module_ &module) {
    module.def("_profile_modes", profile_modes,
               "The bits of the profile's modes that are on: 1 timeline, 2 counters.");
    module.def("_set_profile_modes", set_profile_modes,
               "Turn these modes of the profile on, and the others off.");
    module.def("_profile_report", profile_report, "What was recorded so far, as JSON text.");
    module.def("_note_host_work", note_host_work,
               "Add work of this thread to the timeline: monotonic nanoseconds.");
    module.def("_forget_profile", forget_profile, "Forget what was recorded.");
}

} // namespace pycuda::python
