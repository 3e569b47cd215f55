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

namespace softcuda::codegen {

/// True for what emit_elementwise() emits: pure, and lane i of a result depends on lane i of the
/// operands only.
[[nodiscard]] bool is_elementwise(ir::Opcode opcode);

/// Emits `instruction` at the builder's place. `operands` are LLVM values of the operands' register
/// classes (I1 as i1, F32 as float, ...), all scalars or all vectors of one length; so are the
/// results that are appended to `results`. Lanes may hold garbage: no operation traps.
/// Throws std::runtime_error, naming the instruction, for a form that is not supported.
void emit_elementwise(llvm::IRBuilderBase &builder, const jit::Target &target,
                      const ir::Instruction &instruction, std::span<llvm::Value *const> operands,
                      std::vector<llvm::Value *> &results);

/// The one NaN that NVIDIA's hardware makes in f32, 0x7fffffff, wherever `value`, floats, is NaN.
/// x86 makes others; only stores and bitcasts can tell. Doubles are returned as they are: there
/// both keep an operand's NaN, quieted, and make 0xfff8000000000000 of none.
[[nodiscard]] llvm::Value *canonicalize_nan(llvm::IRBuilderBase &builder, llvm::Value *value);

/// `value`, which is what `source` became, fit to be seen as bits: canonicalize_nan where an
/// operation may have made a NaN; bits that were only loaded and moved stay. For what is stored,
/// shuffled or passed on; emit_elementwise itself does this where integers are made of floats.
[[nodiscard]] llvm::Value *with_hardware_nan(llvm::IRBuilderBase &builder, const ir::Value &source,
                                             llvm::Value *value);

} // namespace softcuda::codegen
