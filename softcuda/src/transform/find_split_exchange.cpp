// find_split_exchange.cpp -- proves that the members of an exchange execute it together.
#include "transform/find_split_exchange.h"

#include "ir/exchange.h"
#include "transform/may_reach.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace softcuda::transform {

namespace {

using analysis::kLanes;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

class Proof {
  public:
    Proof(const ir::Function &function, const analysis::LaunchShape &launch,
          const analysis::Divergence &divergence, const Schedule &schedule,
          const analysis::ThreadValues &thread_values, const CallsOfWarp &calls)
        : function_(function), launch_(launch), divergence_(divergence), schedule_(schedule),
          thread_values_(thread_values), calls_(calls), group_size_(lanes_that_stay_together()) {}

    bool holds(const Instruction &exchange) {
        const Block *block = exchange.block;
        if (ir::takes_active_lanes(exchange))
            return true;
        const Value *members = ir::members_of(exchange);
        if (calls_.lanes_outside)
            return members && were_found_here(members, block, kMostSteps);
        if (schedule_.of(block).pending.empty())
            return true;
        return (members && (were_found_here(members, block, kMostSteps) ||
                            names_lanes_here(members, block) || names_own_group(members))) ||
               !may_meet_elsewhere(exchange);
    }

  private:
    static constexpr unsigned kMostSteps = 8;
    using Threads = std::vector<bool>; ///< by thread of the block

    [[nodiscard]] bool have_same_lanes(const Block *a, const Block *b) const {
        return schedule_.of(a).mask_owner == schedule_.of(b).mask_owner;
    }

    /// Whether the mask was computed from lanes that are all at `block`: by an exchange of these
    /// lanes, or by a vote that has decided which lanes come here.
    bool were_found_here(const Value *members, const Block *block, unsigned steps) const {
        const Instruction *made = members->definition;
        if (!made || steps == 0)
            return false;
        switch (made->opcode) {
        case Opcode::And:
            return were_found_here(made->operand(0), block, steps - 1) ||
                   were_found_here(made->operand(1), block, steps - 1);
        case Opcode::ActiveMask:
        case Opcode::Match:
            return have_same_lanes(made->block, block);
        case Opcode::Vote:
            return made->attributes.vote == ir::VoteMode::Ballot &&
                   (have_same_lanes(made->block, block) || has_decided(*made, block));
        default:
            return false;
        }
    }

    /// m = ballot(p); if (p) { block }
    [[nodiscard]] bool has_decided(const Instruction &vote, const Block *block) const {
        const Block *owner = schedule_.of(block).mask_owner;
        if (owner->predecessors.size() != 1)
            return false;
        const Block *before = owner->predecessors.front();
        const Instruction &end = *before->terminator();
        return end.is(Opcode::Branch) && end.operand(0) == vote.operand(0) &&
               end.blocks[0] == owner && end.blocks[1] != owner &&
               have_same_lanes(before, vote.block);
    }

    /// The threads that have not ended but are not at the block while others of their warp are,
    /// according to their indices; empty if other data decides it.
    std::optional<Threads> threads_away(const Block *block) const {
        const BlockPlan &plan = schedule_.of(block);
        if (plan.pending.empty() || block == function_.entry())
            return Threads(launch_.threads(), false);
        if (plan.mask_owner != block)
            return threads_away(plan.mask_owner);
        if (block->predecessors.size() != 1)
            return std::nullopt;
        const Block *before = block->predecessors.front();
        std::optional<Threads> away = threads_away(before);
        const Instruction &end = *before->terminator();
        const bool others_end = std::ranges::all_of(
            end.blocks, [&](const Block *to) { return to == block || only_exits(to); });
        if (!away || others_end || !divergence_.divergent_branch[before->id])
            return away;
        const analysis::PerThread *taken =
            end.is(Opcode::Branch) ? thread_values_.of(end.operand(0)) : nullptr;
        if (!taken || end.blocks[0] == end.blocks[1])
            return std::nullopt;
        const std::uint64_t mine = end.blocks[0] == block;
        for (std::size_t thread = 0; thread < away->size(); ++thread)
            if (((*taken)[thread] & 1) != mine)
                (*away)[thread] = true;
        return away;
    }

    /// `test(thread, other)` for each member `other` that each thread names, except itself.
    template <typename Test> bool for_named(const Value *members, Test test) const {
        const analysis::PerThread *named = thread_values_.of(members);
        if (!named)
            return false;
        for (std::uint32_t thread = 0; thread < launch_.threads(); ++thread)
            for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
                const std::uint32_t other = thread - thread % kLanes + lane;
                if (((*named)[thread] >> lane & 1) != 0 && other < launch_.threads() &&
                    other != thread && !test(thread, other))
                    return false;
            }
        return true;
    }

    bool names_lanes_here(const Value *members, const Block *block) const {
        const std::optional<Threads> away = threads_away(block);
        return away && for_named(members, [&](std::uint32_t thread, std::uint32_t other) {
                   return (*away)[thread] || !(*away)[other];
               });
    }

    bool names_own_group(const Value *members) const {
        return group_size_ > 1 &&
               for_named(members, [&](std::uint32_t thread, std::uint32_t other) {
                   return thread / group_size_ == other / group_size_;
               });
    }

    /// The number of lanes in aligned groups that never diverge: every branch is uniform in each
    /// group.
    [[nodiscard]] unsigned lanes_that_stay_together() const {
        unsigned groups = 1;
        analysis::PatternTable patterns;
        for (const Block *block : function_.blocks) {
            if (!divergence_.divergent_branch[block->id])
                continue;
            const std::size_t ways = static_cast<std::size_t>(std::ranges::count_if(
                block->successors(), [](auto *to) { return !only_exits(to); }));
            if (ways > 1)
                groups = std::max<unsigned>(
                    groups,
                    analysis::flatten(divergence_.of(block->terminator()->operand(0)), patterns)
                        .groups);
        }
        return kLanes / groups;
    }

    /// Whether lanes that wait elsewhere may reach a matching exchange before they need the lanes
    /// here.
    [[nodiscard]] bool may_meet_elsewhere(const Instruction &exchange) const {
        return may_reach(
            function_, schedule_.of(exchange.block).pending,
            [&](const Instruction &i) { return may_meet(exchange, i) || continues_elsewhere(i); },
            [](const Instruction &i) {
                return i.is(Opcode::Barrier) || i.is(Opcode::BarrierReduce);
            });
    }

    /// Whether lanes continue in another function, which may have any exchange.
    [[nodiscard]] bool continues_elsewhere(const Instruction &i) const {
        if (i.is(Opcode::Call))
            return std::ranges::find(calls_.exchanging, i.attributes.symbol) !=
                   calls_.exchanging.end();
        return i.is(Opcode::Return) && !function_.kernel;
    }

    static bool may_meet(const Instruction &a, const Instruction &b) {
        if (!ir::is_exchange(b) || !ir::are_same_exchange(a, b) || ir::takes_active_lanes(b))
            return false;
        const Value *x = ir::members_of(a), *y = ir::members_of(b);
        return !x || !y || !x->constant || !y->constant || x->bits == y->bits;
    }

    const ir::Function &function_;
    analysis::LaunchShape launch_;
    const analysis::Divergence &divergence_;
    const Schedule &schedule_;
    const analysis::ThreadValues &thread_values_;
    const CallsOfWarp &calls_;
    unsigned group_size_;
};

} // namespace

const Instruction *
find_split_exchange(const ir::Function &function, const analysis::LaunchShape &launch,
                    const analysis::Divergence &divergence, const Schedule &schedule,
                    const analysis::ThreadValues &thread_values, const CallsOfWarp &calls) {
    Proof proof(function, launch, divergence, schedule, thread_values, calls);
    for (const Block *block : function.blocks)
        for (const Instruction *i : block->instructions)
            if (ir::is_exchange(*i) && !proof.holds(*i))
                return i;
    return nullptr;
}

} // namespace softcuda::transform
