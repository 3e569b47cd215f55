// program.h -- code in compiled programs: fat binaries, and kernels and variables by their host
// addresses.
#pragma once

#include "call.h"

namespace softcudart {

/// The kernel that a program identifies by the address of a stub. A handle of a kernel or a
/// function is accepted, too. Uses the current context. Throws Failure.
CUfunction function_of(const void *symbol);

/// The kernel, independent of contexts. Throws Failure(invalid device function).
CUkernel kernel_of(const void *symbol);

/// The inverse: the address of the stub, or the function itself if no program registered it. Uses
/// the current context.
const void *symbol_of(CUfunction function);

/// A variable in the memory of the current context.
struct Variable {
    CUdeviceptr address = 0;
    std::size_t size = 0; ///< bytes
};

/// Throws Failure(invalid symbol) if the address is not that of a variable.
Variable variable_of(const void *symbol);

/// A part of a variable: `count` bytes from `offset` on. Throws Failure.
CUdeviceptr part_of(const void *symbol, std::size_t offset, std::size_t count);

/// After a reset of the device: loads programs' managed variables again, with their initial values.
void load_managed_variables_again(int device);

} // namespace softcudart
