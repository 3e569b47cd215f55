// kernel_choice.cpp -- `with _Kernels(...)`: kernels other than the device's choice, for tests and
// tuning.
#include "arrays/kernel_choice.h"

#include "support/bindings.h"
#include "support/python_object.h"

#include <pycuda/array_libraries.h>

#include <nanobind/stl/string.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace pycuda::python {
namespace {

/// The enumerator whose name is `name`. The names are in the order of the enumeration.
template <class Choice, std::size_t Count>
Choice named(const std::array<std::string_view, Count> &names, const std::string &name) {
    for (std::size_t k = 0; k < Count; ++k)
        if (names[k] == name)
            return static_cast<Choice>(k);
    throw_value_error("there is no choice \"" + name + "\" of kernels");
}

class PythonChoice {
  public:
    PythonChoice(const std::string &form, const std::string &sort, unsigned items, unsigned threads,
                 const std::string &ranking, bool own_product) {
        using Names = std::array<std::string_view, 3>;
        choice_.form = named<KernelForm>(Names{"chosen", "packed", "rolled"}, form);
        choice_.sort = named<SortMethod>(Names{"chosen", "blocks", "serial"}, sort);
        choice_.tile = {
            items, threads,
            named<SortRanking>(std::array<std::string_view, 4>{"chosen", "late", "early", "marks"},
                               ranking)};
        choice_.own_product = own_product;
    }
    void enter() { scope_.emplace(choice_); }
    void exit() { scope_.reset(); }

  private:
    KernelChoice choice_;
    std::optional<KernelChoiceScope> scope_;
};

} // namespace

void bind_kernel_choice(nb::module_ &module) {
    nb::class_<PythonChoice>(module, "_Kernels",
                             "with _Kernels(...): array operations of this thread use these "
                             "kernels, which have the same "
                             "results as those that the device chooses.")
        .def(nb::init<const std::string &, const std::string &, unsigned, unsigned,
                      const std::string &, bool>(),
             nb::kw_only(), nb::arg("form") = "chosen", nb::arg("sort") = "chosen",
             nb::arg("items") = 0, nb::arg("threads") = 0, nb::arg("ranking") = "chosen",
             nb::arg("own_product") = false)
        .def("__enter__", &PythonChoice::enter)
        .def("__exit__", [](PythonChoice &self, nb::args) { self.exit(); });
    module.def("_array_host_multiplies",
               [] { return !kernel_choice.own_product && host_has_arrays(); });
}

} // namespace pycuda::python
