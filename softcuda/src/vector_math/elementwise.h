// elementwise.h -- LLVM IR for every operation on each lane separately.
#pragma once

#include "ir/attributes.h"

#include <span>
#include <vector>

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace softcuda::ir {
struct Instruction;
} // namespace softcuda::ir

namespace softcuda::jit {
class Target;
} // namespace softcuda::jit

namespace softcuda::vector_math {

/// True for the operations of emit_elementwise(): pure, and lane i of a result depends only on lane
/// i of the operands.
[[nodiscard]] bool is_elementwise(ir::Opcode opcode);

/// Facts about the operands of an operation: bit i is for operand i.
struct OperandFacts {
    std::uint32_t never_denormal = 0; ///< an f32 that `.ftz` need not flush
    std::uint32_t new_nan = 0;        ///< may be a NaN from an operation: canonicalize_nan()
    bool operator==(const OperandFacts &) const = default;
};

/// Emits `instruction` at the builder's position. `operands` are LLVM values of the operands'
/// register classes (I1 as i1, F32 as float, ...), all scalars or all vectors of one length; so are
/// the results that are appended to `results`. Lanes may have undefined values: no operation traps.
/// Throws std::runtime_error with the instruction's name for an unsupported form.
void emit_elementwise(llvm::IRBuilderBase &builder, const jit::Target &target,
                      const ir::Instruction &instruction, std::span<llvm::Value *const> operands,
                      const OperandFacts &facts, std::vector<llvm::Value *> &results);

/// Replaces each NaN in `value` by the only NaN that NVIDIA's hardware produces in f32, 0x7fffffff.
/// Processors produce others; only stores and bitcasts show the difference. Values of other types
/// are returned unchanged: in f64 both keep an operand's NaN, quieted, and produce
/// 0xfff8000000000000 otherwise.
[[nodiscard]] llvm::Value *canonicalize_nan(llvm::IRBuilderBase &builder, llvm::Value *value);

} // namespace softcuda::vector_math
