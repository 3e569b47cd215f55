// address_sum.h -- addresses as sums of values, to find how far apart two of them are.
#pragma once

#include "analysis/cfg.h"
#include "ir/ir.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace softcuda::transform {

/// A value, or all steps so far of a pointer that moves through a loop.
struct AddressTerm {
    ir::Value *value = nullptr;
    /// phi [start, preheader], [phi + step, latch]: the term is step times the earlier iterations.
    /// Null: the term is `value`.
    ir::Instruction *moving = nullptr;
    bool negative = false;
};

/// The sum of the terms and the constant, modulo 2^64.
struct AddressSum {
    std::vector<AddressTerm> terms;
    std::uint64_t constant = 0;
};

/// Of an address that is used in `block`.
[[nodiscard]] AddressSum to_sum(ir::Value *address, const ir::Block &block,
                                const analysis::LoopForest &loops);

/// a - b, without the terms that both have.
[[nodiscard]] AddressSum difference(const AddressSum &a, const AddressSum &b);

/// Whether all terms of a sum are the same in all threads of a thread block, wherever the sum is
/// used.
[[nodiscard]] bool is_same_in_block(const AddressSum &sum);

/// The bytes from a thread's address to that of the next thread along x. Empty if that is unknown.
[[nodiscard]] std::optional<std::int64_t> bytes_between_threads(const AddressSum &sum);

/// The constant that is added to a phi of this form in each iteration, and the number of the phi's
/// operand after an iteration. Empty for other phis.
struct MovingPhi {
    std::size_t back;
    ir::Value *step;
};
[[nodiscard]] std::optional<MovingPhi> moving_phi(const ir::Instruction &phi);

} // namespace softcuda::transform
