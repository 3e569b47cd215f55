// check_claims.h -- compares the claims of plans about values and addresses with the values of the
// lanes.
#pragma once

#include "interpret/exchange.h"
#include "interpret/machine.h"
#include "warp/kernel_plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace softcuda::interpret {

/// The lanes that run an instruction, in their warp.
struct ActiveLanes {
    std::uint32_t lanes = 0;
    unsigned warp = 0;
};

/// The compile-time knowledge about a function's values. Each check throws Stopped if a claim is
/// wrong.
class Claims {
  public:
    explicit Claims(const warp::KernelPlan &plan);

    /// Checks a value against its shape, its range, its known lanes and its value by thread. Then
    /// recomputes all lanes as generated code represents them: a base for each group, and offsets.
    void check_value(const ir::Value *value, LaneValues &lanes, const ActiveLanes &active) const;
    /// Checks an access. `operands` are the values of its operands; `read` returns the values of
    /// others.
    template <typename Read>
    void check_access(const ir::Instruction &access, const LaneValues &addresses,
                      const ActiveLanes &active, Read read) const {
        const auto found = plan_.accesses.find(&access);
        if (found == plan_.accesses.end())
            return;
        check_places(access, found->second, addresses, active);
        const warp::IndexedAddress &indexed = found->second.indexed;
        if (indexed.pointer)
            check_index(access, indexed, addresses, read(indexed.pointer), read(indexed.index),
                        active);
    }

  private:
    void check_places(const ir::Instruction &access, const warp::AccessPlan &made,
                      const LaneValues &addresses, const ActiveLanes &active) const;
    void check_index(const ir::Instruction &access, const warp::IndexedAddress &indexed,
                     const LaneValues &addresses, const LaneValues &pointer,
                     const LaneValues &index, const ActiveLanes &active) const;
    void check_windows(const ir::Instruction &access, const warp::AccessPlan &made,
                       const LaneValues &offsets, const ActiveLanes &active) const;

    const warp::KernelPlan &plan_;
    std::vector<const analysis::PerThread *> by_thread_; ///< by Value::id; null: not known
};

} // namespace softcuda::interpret
