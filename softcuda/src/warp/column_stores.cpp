// column_stores.cpp -- finds stores by columns.
#include "warp/column_stores.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using ir::Instruction;
using ir::Opcode;

/// Of the processor's smallest vectors, and of a part of a column that is written at once.
constexpr unsigned kPieceBytes = 16;
constexpr unsigned kMostAtOnce = 8; ///< steps: more take long to compile
constexpr unsigned kMostWarps = 32; ///< whose values are kept

bool may_have_columns(const KernelPlan &plan) {
    const auto &block = plan.launch.block;
    if (plan.tier.tier != rt::Tier::Regions || plan.request.watch != 0 || plan.request.counts ||
        plan.function.debug || plan.wants_short_code || !plan.launch.is_fixed() ||
        (plan.has_regions() && !plan.lockstep.holds) || plan.groups.order != BlockOrder::One)
        return false;
    const bool is_of_rows = block[1] * block[2] > 1 && (block[1] == 1 || block[2] == 1);
    const bool has_parts = block[0] % kLanes == 0 ||
                           (std::has_single_bit(block[0]) && block[0] >= 8 && block[0] < kLanes);
    return is_of_rows && has_parts && plan.launch.threads() % kLanes == 0 &&
           plan.launch.warps() <= kMostWarps;
}

class ColumnFinder {
  public:
    explicit ColumnFinder(KernelPlan &plan) : plan_(plan), rows_(plan) {}

    [[nodiscard]] bool is_by_columns(const Instruction &store, const AccessPlan &made) const {
        if (!store.is(Opcode::Store) || store.attributes.space != ir::Space::Global ||
            store.attributes.order != ir::Order::Weak || store.attributes.async)
            return false;
        const bool is_apart =
            made.full == AccessMethod::Tested || made.full == AccessMethod::Scattered;
        const unsigned of_piece = kPieceBytes / std::max(made.bytes, 1u);
        return is_apart && made.count == 1 && made.joined.empty() && !made.joined_by &&
               (made.bytes == 4 || made.bytes == 8) && rows_.at_once % of_piece == 0 &&
               plan_.loops.innermost(store.block) < 0 && is_last(store);
    }

  private:
    static bool is_harmless(const Instruction &i) {
        const ir::OpcodeInfo &facts = ir::info(i.opcode);
        if (i.is(Opcode::Load))
            return i.attributes.order == ir::Order::Weak &&
                   (i.attributes.space == ir::Space::Shared ||
                    i.attributes.space == ir::Space::Param);
        return i.is(Opcode::LoadParam) || (!facts.reads && !facts.writes && !facts.convergent);
    }

    // Whether the threads access no memory between the store and the end of the region.
    [[nodiscard]] bool is_last(const Instruction &store) const {
        std::vector<bool> seen(plan_.function.blocks.size(), false);
        std::vector<const ir::Block *> left = {store.block};
        bool is_behind = false;
        while (!left.empty()) {
            const ir::Block *block = left.back();
            left.pop_back();
            for (const Instruction *i : block->instructions) {
                const bool counts = block != store.block || is_behind;
                is_behind |= i == &store;
                if (counts && i != barrier_at_end(block) && !is_harmless(*i))
                    return false;
            }
            if (barrier_at_end(block))
                continue;
            for (const ir::Block *next : block->successors())
                if (!seen[next->id]) {
                    seen[next->id] = true;
                    left.push_back(next);
                }
        }
        return true;
    }

    KernelPlan &plan_;
    BlockRows rows_;
};

} // namespace

BlockRows::BlockRows(const KernelPlan &plan)
    : lanes(std::min<unsigned>(plan.launch.block[0], kLanes)),
      parts(std::max<unsigned>(plan.launch.block[0] / kLanes, 1)),
      steps(plan.launch.warps() / parts), at_once(std::gcd(steps, kMostAtOnce)) {}

void find_column_stores(KernelPlan &plan) {
    if (!may_have_columns(plan))
        return;
    const ColumnFinder finder(plan);
    for (auto &[access, made] : plan.accesses) {
        if (!finder.is_by_columns(*access, made))
            continue;
        const auto step = growth_by_row(plan, access->operand(0));
        if (step && std::abs(*step) == made.bytes)
            made.row_step = *step;
    }
}

} // namespace softcuda::warp
