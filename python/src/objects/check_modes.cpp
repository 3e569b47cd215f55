// check_modes.cpp -- softcuda's check modes for pycuda.check, and the Python line of an allocation.
#include "support/bindings.h"

#include <pycuda/check_modes.h>
#include <pycuda/init.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace pycuda::python {
namespace {

/// The line of the program that this thread executes, outside of the package.
std::string call_site() {
    if (finalizing() || !Py_IsInitialized())
        return "";
    nb::gil_scoped_acquire gil;
    return nb::cast<std::string>(nb::module_::import_("pycuda._call_site").attr("call_site")());
}

} // namespace

void bind_check_modes(nb::module_ &module) {
    module.def(
        "_parse_check_modes",
        [](const std::string &names) { return parse_check_modes(names, "pycuda.check"); },
        "The bits of check modes: \"mem,race\".");
    module.def("_check_modes", check_modes, "The bits of the check modes that are on.");
    module.def("_set_check_modes", set_check_modes,
               "Turn these check modes on, and the others off.");
    module.def("_check_report", check_report, "The findings so far, as JSON text.");
    module.def(
        "_mark_findings_read",
        [](const std::vector<std::uint64_t> &numbers) { mark_findings_read(numbers); },
        "Findings that the program has read: they are not printed again.");
    module.def("_forget_findings", forget_findings, "Forget all findings.");
    module.def("_mark_written", mark_written,
               "Device memory that the host may have written as its own.");
    set_call_site(call_site);
}

} // namespace pycuda::python
