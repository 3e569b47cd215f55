// program.h -- what a compiler put into programs: fat binaries, kernels and variables by the
// addresses that they have on the host.
#pragma once

#include "call.h"

namespace softcudart {

/// The kernel that a program calls by the address of a stub; a handle of a kernel or a function
/// counts as well. In the current context. Throws Failure.
CUfunction function_of(const void *symbol);

/// The same kernel, for every context. Throws Failure(invalid device function).
CUkernel kernel_of(const void *symbol);

/// The reverse: the stub's address, or the function itself where no program registered it. In the
/// current context.
const void *symbol_of(CUfunction function);

/// A variable in the memory of the current context.
struct Variable {
    CUdeviceptr address = 0;
    std::size_t size = 0; ///< bytes
};

/// Throws Failure(invalid symbol) for an address that belongs to no variable.
Variable variable_of(const void *symbol);

/// Part of a variable: `count` bytes from `offset` on. Throws Failure.
CUdeviceptr part_of(const void *symbol, std::size_t offset, std::size_t count);

/// After a reset of the device: programs' managed variables live again, with their first values.
void load_managed_variables_again(int device);

} // namespace softcudart
