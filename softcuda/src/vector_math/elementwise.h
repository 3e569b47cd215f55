// elementwise.h -- LLVM IR for every operation that treats each lane by itself.
#pragma once

#include "ir/ir.h"

#include <span>
#include <vector>

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace softcuda::jit {
class Target;
} // namespace softcuda::jit

namespace softcuda::vector_math {

/// True for what emit_elementwise() emits: pure, and lane i of a result depends on lane i of the
/// operands only.
[[nodiscard]] bool is_elementwise(ir::Opcode opcode);

/// Facts about the operands of an operation: bit i is for operand i.
struct OperandFacts {
    std::uint32_t never_denormal = 0; ///< an f32 that `.ftz` need not flush
    std::uint32_t new_nan = 0;        ///< may be a NaN that an operation made: canonicalize_nan()
};

/// Emits `instruction` at the builder's place. `operands` are LLVM values of the operands' register
/// classes (I1 as i1, F32 as float, ...), all scalars or all vectors of one length; so are the
/// results that are appended to `results`. Lanes may hold garbage: no operation traps.
/// Throws std::runtime_error, naming the instruction, for a form that is not supported.
void emit_elementwise(llvm::IRBuilderBase &builder, const jit::Target &target,
                      const ir::Instruction &instruction, std::span<llvm::Value *const> operands,
                      const OperandFacts &facts, std::vector<llvm::Value *> &results);

/// The one NaN that NVIDIA's hardware makes in f32, 0x7fffffff, wherever `value` is NaN. x86 makes
/// others; only stores and bitcasts can tell. Values that are not f32 are returned as they are: in
/// f64 both keep an operand's NaN, quieted, and make 0xfff8000000000000 of none.
[[nodiscard]] llvm::Value *canonicalize_nan(llvm::IRBuilderBase &builder, llvm::Value *value);

} // namespace softcuda::vector_math
