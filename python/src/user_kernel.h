// user_kernel.h -- what the bindings of users' kernels have in common.
#pragma once

#include "argument_types.h"
#include "array_operand.h"
#include "bindings.h"
#include "element_check.h"

#include <pycuda/kernel_argument.h>

#include <string>
#include <tuple>
#include <vector>

namespace pycuda::python {

/// (is an array, type in C, name, bytes of an element)
using ArgumentTuple = std::tuple<bool, std::string, std::string, std::size_t>;

std::vector<KernelArgument> arguments_from(const std::vector<ArgumentTuple> &tuples);

/// The arguments of one call that are arrays.
class CallArrays {
  public:
    /// Throws TypeError where the number of arguments is not the declared one, or something else
    /// was passed where an array is declared. `args` is a tuple that outlives this.
    CallArrays(const std::string &kernel, const std::vector<KernelArgument> &declared,
               nb::handle args, StreamUse &use);
    std::span<const ArrayView> views() const noexcept { return views_; }
    nb::handle dtype(std::size_t array) const noexcept { return dtypes_[array]; }

  private:
    ArrayReader reader_;
    std::vector<ArrayView> views_;
    std::vector<nb::object> dtypes_;
};

/// The Function objects of a kernel's variants, made when a variant is first used. What the
/// compiler said about it becomes a warning then, as SourceModule gives it.
class VariantFunctions {
  public:
    /// Stays valid while the function's context is usable and this lives.
    FunctionObject &get(const Function &function, const std::string &log,
                        const std::string &kept_in);

  private:
    FunctionObject *find(const Function &function);

    nb::ft_mutex mutex_;
    std::vector<nb::object> functions_; ///< of contexts that are usable
};

/// Packs a number for a scalar of the declaration. NumPy's numbers and arrays without axes are
/// converted to the scalar's type, as PyCUDA does; the other numbers are packed as in a launch.
void pack_scalar(PyObject *value, const KernelArgument &declared, Packing &packing);

/// Packs arguments as declared: arrays through `push_array(block, index of the array)`, numbers
/// through pack_scalar().
template <class PushArray>
void pack_arguments(Packing &packing, const std::vector<KernelArgument> &declared, nb::handle args,
                    const CallArrays &arrays, PushArray push_array) {
    std::size_t array = 0;
    for (std::size_t i = 0; i < declared.size(); ++i) {
        if (!declared[i].is_vector()) {
            pack_scalar(PyTuple_GetItem(args.ptr(), static_cast<Py_ssize_t>(i)), declared[i],
                        packing);
            continue;
        }
        check_elements(packing.function, packing.block.count(), arrays.dtype(array));
        push_array(packing.block, array++);
    }
}

} // namespace pycuda::python
