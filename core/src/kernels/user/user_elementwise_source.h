// user_elementwise_source.h -- the CUDA C++ of an elementwise kernel.
#pragma once

#include "arrays/expression.h"
#include "compile/source/source_tokens.h"
#include "kernels/user/user_operands.h"
#include "kernels/user/user_variants.h"

#include <pycuda/elementwise_kernel.h>

#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

/// What one form of a kernel takes for granted whose threads run a loop each.
struct ElementwiseForm {
    const OperandForms *operands = nullptr; ///< null: all arrays are contiguous
    bool wide = false;                      ///< 2^31 elements or more
    bool ranged = false;                    ///< over start, stop, step instead of n
};

KernelSource write_elementwise(const std::vector<KernelArgument> &arguments,
                               const ElementwiseText &text, const UserMacros &macros,
                               const ElementwiseForm &form);

/// The text for a walk (expression.h). `walked` says of each array whether it is used as `x[i]`
/// alone.
KernelSource write_elementwise(const std::vector<KernelArgument> &arguments,
                               const ElementwiseText &text, const UserMacros &macros,
                               const std::vector<bool> &walked, bool wide, const ElementWalk &walk);

// Pieces that other kernels of users share.

/// The includes that the texts need: complex numbers, half precision, strided arrays.
std::string includes_for(const std::vector<KernelArgument> &arguments,
                         const std::vector<std::string_view> &texts, const OperandForms *operands);
/// The arguments with types that no macro of the options changes: names of typedefs, which are
/// added to `source`. The arguments themselves if the options define no macros.
std::vector<KernelArgument> with_own_types(std::vector<KernelArgument> arguments,
                                           const UserMacros &macros, std::string &source);
/// "float *x, pycuda::StridedArgument<float, 2> pycuda_y, float a": the parameters, in order, then
/// the groups' extents.
std::string declare_parameters(const std::vector<KernelArgument> &arguments,
                               const OperandForms *operands);
/// Statements that make strided parameters usable under their own names.
std::string bind_strided(const std::vector<KernelArgument> &arguments, const OperandForms *operands,
                         bool wide);

/// Statements that tell the compiler that arrays start at multiples of 16 bytes.
std::string promise_alignment(const std::vector<KernelArgument> &arguments);

/// The key of a variant that depends on the forms of the operands only.
std::string form_key(bool wide, bool aligned, const OperandForms *operands);

} // namespace pycuda
