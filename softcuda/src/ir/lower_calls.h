// lower_calls.h -- what calls of functions and of the CUDA runtime in device code share.
#pragma once

#include "ir/lower_function.h"

#include <cstdint>
#include <vector>

namespace softcuda::ir {

/// A scalar that parameters of calls are made of.
struct Piece {
    std::uint64_t offset;
    Type type;
};

/// A scalar is one piece, a struct is cut into words of its alignment, of 8 bytes at most.
[[nodiscard]] std::vector<Piece> pieces_of(const ptx::Variable &variable);

/// A piece of what the caller passes: of a .param variable, or a register or number.
[[nodiscard]] Value *read_argument(FunctionLowering &f, const ptx::Operand &argument,
                                   const Piece &piece);
void write_result(FunctionLowering &f, const ptx::Operand &destination, const Piece &piece,
                  Value *value);

/// What stands for the address of a function or a kernel, which a name in code or in an initialiser
/// is.
[[nodiscard]] std::uint64_t address_of(const ModuleLowering &module, const ptx::Module &source,
                                       std::uint32_t index);

/// A call of the CUDA runtime in device code; false where `callee` is no function of it.
[[nodiscard]] bool lower_device_call(FunctionLowering &f, const ptx::Instruction &call,
                                     const ptx::Function &callee);

/// A call of the CUDA runtime's functions for cooperative grids; false where `callee` is none.
[[nodiscard]] bool lower_grid_sync(FunctionLowering &f, const ptx::Instruction &call,
                                   const ptx::Function &callee);

} // namespace softcuda::ir
