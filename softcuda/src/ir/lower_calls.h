// lower_calls.h -- the common part of calls of functions and of the CUDA runtime in device code.
#pragma once

#include "ir/lower_function.h"

#include <cstdint>
#include <vector>

namespace softcuda::ir {

/// A scalar piece of a call's parameters.
struct Piece {
    std::uint64_t offset;
    Type type;
};

/// A scalar is one piece, a struct is cut into words of its alignment, of 8 bytes at most. An open
/// parameter is one piece: the address of the caller's argument.
[[nodiscard]] std::vector<Piece> pieces_of(const ptx::Variable &variable);

/// A piece of an argument: a part of a .param variable, a register or a number.
[[nodiscard]] Value *read_argument(FunctionLowering &f, const ptx::Operand &argument,
                                   const Piece &piece);
/// A piece of the argument for `parameter`.
[[nodiscard]] Value *read_argument(FunctionLowering &f, const ptx::Operand &argument,
                                   const ptx::Variable &parameter, const Piece &piece);
void write_result(FunctionLowering &f, const ptx::Operand &destination, const Piece &piece,
                  Value *value);

/// A call of the CUDA runtime in device code; false if `callee` is not one of its functions.
[[nodiscard]] bool lower_device_call(FunctionLowering &f, const ptx::Instruction &call,
                                     const ptx::Function &callee);

/// A call of the CUDA runtime's functions for cooperative grids; false if `callee` is not one of
/// them.
[[nodiscard]] bool lower_grid_sync(FunctionLowering &f, const ptx::Instruction &call,
                                   const ptx::Function &callee);

} // namespace softcuda::ir
