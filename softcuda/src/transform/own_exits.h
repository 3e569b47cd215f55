// own_exits.h -- exits that a loop takes after some iterations by its own operations.
//
//     i < n                     a count, a shifted or scaled value that changes in each iteration
//     old == seen               with old = atomicCAS(p, seen, ...), where seen was read from p: if
//                               they differ, another thread has succeeded
//     atomicAdd(&next, 1) < n   what the loop's own additions have reached, also if one lane or
//                               thread adds, and the others get the result by a shuffle or through
//                               a variable
#pragma once

#include "transform/loop_view.h"

#include <optional>
#include <set>
#include <vector>

namespace softcuda::transform {

/// A comparison that ends the loop, if `other` does not depend on a signal.
struct OwnCompare {
    const ir::Instruction *compare = nullptr;
    /// The atomic whose result is compared; null: a count.
    const ir::Instruction *atomic = nullptr;
    /// A value that must not depend on a signal: the limit of an equality, or the result of
    /// additions as the comparison reads it. Null: there is none.
    const ir::Value *other = nullptr;
};

class OwnExits {
  public:
    explicit OwnExits(const LoopView &loop);

    /// The comparisons, in branches that leave the loop and are reached in each iteration.
    [[nodiscard]] const std::vector<OwnCompare> &compares() const { return compares_; }

  private:
    void look_at(const ir::Value *condition, bool leaves_if);
    void add_compare(const ir::Instruction &compare, bool leaves_if);
    [[nodiscard]] bool is_count(const ir::Value *value, unsigned depth = 0) const;
    [[nodiscard]] bool is_step_of(const ir::Value *value, const ir::Value *phi,
                                  unsigned depth) const;
    [[nodiscard]] const ir::Instruction *updated_by(const ir::Instruction &compare) const;
    [[nodiscard]] bool is_read_from(const ir::Value *value, const ir::Instruction &atomic,
                                    unsigned depth) const;
    [[nodiscard]] const ir::Instruction *addition_of(const ir::Value *value, unsigned depth) const;
    [[nodiscard]] const ir::Instruction *stored_addition(const ir::Instruction &load,
                                                         unsigned depth) const;
    [[nodiscard]] bool is_undone(const ir::Instruction &count) const;

    const LoopView &loop_;
    std::vector<OwnCompare> compares_;
};

} // namespace softcuda::transform
