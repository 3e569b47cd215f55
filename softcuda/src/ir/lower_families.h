// lower_families.h -- the families of PTX instructions and how each is lowered.
#pragma once

#include "ir/lower_function.h"

namespace softcuda::ir {

using Lowering = void (*)(FunctionLowering &, const ptx::Instruction &);

/// The effect of a guard predicate on an instruction.
enum class Effect {
    Pure,   ///< the instruction is executed, and its result is selected
    Branch, ///< a branch skips the instruction
    Own,    ///< the lowering handles the guard
};

struct LoweringRule {
    Lowering lower = nullptr; ///< null: the software device does not have this instruction
    Effect effect = Effect::Pure;
};

[[nodiscard]] LoweringRule lowering_rule(const ptx::Instruction &instruction);

// Each reports an error through FunctionLowering if it does not know a variant.
void lower_arithmetic(FunctionLowering &, const ptx::Instruction &); ///< add sub mul ...: by type
void lower_integer(FunctionLowering &, const ptx::Instruction &);
void lower_carry(FunctionLowering &, const ptx::Instruction &); ///< addc subc madc, .cc
void lower_bits(FunctionLowering &, const ptx::Instruction &);
void lower_float(FunctionLowering &, const ptx::Instruction &);
void lower_logic(FunctionLowering &, const ptx::Instruction &);
void lower_compare(FunctionLowering &, const ptx::Instruction &);
void lower_move(FunctionLowering &, const ptx::Instruction &);
void lower_convert(FunctionLowering &, const ptx::Instruction &);
void lower_memory(FunctionLowering &, const ptx::Instruction &);
void lower_copy(FunctionLowering &, const ptx::Instruction &); ///< cp.async
void lower_atomic(FunctionLowering &, const ptx::Instruction &);
void lower_texture(FunctionLowering &, const ptx::Instruction &); ///< and surfaces
void lower_warp(FunctionLowering &, const ptx::Instruction &);
void lower_matrix(FunctionLowering &, const ptx::Instruction &);       ///< mma, wmma
void lower_group_matrix(FunctionLowering &, const ptx::Instruction &); ///< wgmma
void lower_matrix_move(FunctionLowering &, const ptx::Instruction &);
void lower_mbarrier(FunctionLowering &, const ptx::Instruction &);
void lower_stack(FunctionLowering &, const ptx::Instruction &); ///< alloca
void lower_video(FunctionLowering &, const ptx::Instruction &);
void lower_video_pairs(FunctionLowering &, const ptx::Instruction &);
void lower_video_quads(FunctionLowering &, const ptx::Instruction &);
void lower_barrier(FunctionLowering &, const ptx::Instruction &);
void lower_cluster(FunctionLowering &, const ptx::Instruction &);
void lower_bulk_copy(FunctionLowering &, const ptx::Instruction &);
void lower_control(FunctionLowering &, const ptx::Instruction &);
void lower_call(FunctionLowering &, const ptx::Instruction &);
void lower_copy_group(FunctionLowering &, const ptx::Instruction &);       // lower_memory.cpp
void lower_dependent_launch(FunctionLowering &, const ptx::Instruction &); // lower_memory.cpp
void lower_nothing(FunctionLowering &, const ptx::Instruction &); ///< hints: prefetch, pmevent

/// At the start of a function that is not inlined: stores its arguments to the slots of its
/// parameters.
void bind_arguments(FunctionLowering &);
/// The body of a dispatch function: calls the one of `targets` whose address is the first argument.
void lower_dispatch(FunctionLowering &, std::span<const std::uint32_t> targets);
/// The results of such a function at a return.
[[nodiscard]] std::vector<Value *> returned_values(FunctionLowering &);

// lower_cluster.cpp
/// An instruction that a function of the runtime executes (support/runtime_operation.h).
Instruction *runtime_call(FunctionLowering &, std::uint32_t word, std::span<Value *const> operands,
                          std::span<const Type> results);
/// Between addresses in shared::cluster, as 64 bits, and generic ones.
[[nodiscard]] Value *from_cluster(FunctionLowering &, Value *address);
[[nodiscard]] Value *to_cluster(FunctionLowering &, Value *address);
[[nodiscard]] Value *is_cluster_shared(FunctionLowering &, Value *address);
/// The address of an access that names `named`, which is `space` in the IR. In shared::cluster it
/// becomes a generic address, and so does `space`.
[[nodiscard]] Address memory_address(FunctionLowering &, const ptx::Operand &, ptx::Space named,
                                     Space &space);

/// An operand's address with its offset.
[[nodiscard]] Value *whole_address(FunctionLowering &, const ptx::Operand &, Space);
/// An operand's address in the space that it is named to be in, as a generic one of 64 bits.
[[nodiscard]] Value *generic_address(FunctionLowering &, const ptx::Operand &, ptx::Space named);
/// An operand's address in shared memory, 32 bits; with no space named it is a generic one.
[[nodiscard]] Address shared_address(FunctionLowering &, const ptx::Operand &, Space);

// Words of PTX in the IR's.
[[nodiscard]] Scalar scalar(ptx::ScalarType type); ///< None for types that the IR does not have
[[nodiscard]] Space space(ptx::Space space);
[[nodiscard]] Rounding rounding(ptx::Rounding rounding);
[[nodiscard]] Order order(ptx::Order order);
[[nodiscard]] Scope scope(ptx::Scope scope);
[[nodiscard]] std::optional<AtomicOp> atomic_op(ptx::Operation operation);
/// Type, source type, rounding, precision and flags.
[[nodiscard]] Attributes attributes(const ptx::Instruction &instruction);

} // namespace softcuda::ir
