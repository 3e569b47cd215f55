// user_kernel.h -- the common part of the bindings of users' kernels.
#pragma once

#include "arrays/array_operand.h"
#include "launch/argument_types.h"
#include "launch/element_check.h"
#include "support/bindings.h"

#include <pycuda/kernel_argument.h>

#include <string>
#include <tuple>
#include <vector>

namespace pycuda::python {

/// (is an array, type in C, name, bytes of an element).
using ArgumentTuple = std::tuple<bool, std::string, std::string, std::size_t>;

std::vector<KernelArgument> arguments_from(const std::vector<ArgumentTuple> &tuples);

class CallArrays {
  public:
    /// Throws TypeError if the number of arguments differs from the declaration, or if an argument
    /// for an array is not an array. `args` is a tuple that outlives this object.
    CallArrays(const std::string &kernel, const std::vector<KernelArgument> &declared,
               nb::handle args, Work &use);
    std::span<const ArrayView> views() const noexcept { return views_; }
    nb::handle dtype(std::size_t array) const noexcept { return dtypes_[array]; }

  private:
    ArrayReader reader_;
    std::vector<ArrayView> views_;
    std::vector<nb::object> dtypes_;
};

/// The Function objects of a kernel's variants, created at the first use of a variant. The
/// compiler's messages for the variant then become a warning, as in SourceModule.
class VariantFunctions {
  public:
    /// Stays valid while the function's context is usable and this object exists.
    FunctionObject &get(const Function &function, const std::string &log,
                        const std::string &kept_in);

  private:
    FunctionObject *find(const Function &function);

    nb::ft_mutex mutex_;
    std::vector<nb::object> functions_; ///< for contexts that are usable
};

/// Packs a number for a scalar of the declaration. NumPy's numbers and arrays without axes are
/// converted to the scalar's type, as PyCUDA does; the other numbers are packed as in a launch.
void pack_scalar(PyObject *value, const KernelArgument &declared, Packing &packing);

/// Packs arguments as declared: arrays with `push_array(block, index of the array)`, numbers with
/// pack_scalar().
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
