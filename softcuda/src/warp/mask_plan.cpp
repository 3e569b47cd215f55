// mask_plan.cpp -- computes masks, edges and joins from the schedule and the shapes.
#include "warp/mask_plan.h"

#include "warp/access_plan.h"
#include "warp/kernel_plan.h"

#include <algorithm>
#include <ranges>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using ir::Block;
using ir::Instruction;
using ir::Opcode;
using ir::Value;

constexpr std::uint32_t kAllLanes = ~std::uint32_t{0};
constexpr std::size_t kMostStores = 4;

bool is_undefined(const Value *value) {
    return value->definition && value->definition->is(Opcode::Undef);
}

/// A condition of each thread as bits by lane. Lanes without a thread get the first warp's bits.
LanesByWarp lanes_of(const analysis::PerThread &threads) {
    LanesByWarp lanes((threads.size() + kLanes - 1) / kLanes, 0);
    for (std::size_t place = 0; place < lanes.size() * kLanes; ++place) {
        const std::size_t thread = place < threads.size() ? place : place % kLanes;
        if (thread < threads.size() && (threads[thread] & 1) != 0)
            lanes[place / kLanes] |= std::uint32_t{1} << place % kLanes;
    }
    return lanes;
}

/// Whether the condition depends on loaded data. Then it is true for some lane of most warps, while
/// an index may be out of range for whole warps.
bool depends_on_data(const KernelPlan &plan, const Value *condition) {
    const Instruction *i = condition->definition;
    if (condition->constant || !i)
        return false;
    if (i->is(Opcode::And) || i->is(Opcode::Or) || i->is(Opcode::Xor) || i->is(Opcode::Not))
        return std::ranges::any_of(
            i->operands, [&](const Value *operand) { return depends_on_data(plan, operand); });
    return i->is(Opcode::Compare) && std::ranges::any_of(i->operands, [&](const Value *operand) {
               return !operand->constant && plan.divergence.of(operand).divergent();
           });
}

/// True if running this basic block with an empty mask is cheaper than testing whether any lane is
/// active: the condition depends on loaded data, and the block only contains a few stores to valid
/// addresses in shared memory.
///
///     if (a > b) { cells[i] = b; cells[j] = a; }
bool is_cheaper_unguarded(const KernelPlan &plan, const Block *block) {
    if (!plan.has_regions() || block->predecessors.size() != 1 || block->successors().size() != 1 ||
        block->instructions.size() > kMostStores + 1 ||
        block->successors().front()->instructions.front()->is(Opcode::Phi))
        return false;
    // Without lanes, the warp would continue at the successor of this block, too.
    const transform::BlockPlan &here = plan.schedule.of(block);
    if (block->instructions.size() == 1 || here.pending.empty() ||
        here.pending.front() != here.next.front())
        return false;
    const Instruction &branch = *block->predecessors.front()->terminator();
    if (!branch.is(Opcode::Branch) || !depends_on_data(plan, branch.operand(0)))
        return false;
    return std::ranges::all_of(block->instructions, [&](const Instruction *i) {
        return i == block->terminator() || (i->is(Opcode::Store) && is_in_static_memory(plan, *i) &&
                                            !plan.divergence.of(i->operand(0)).uniform());
    });
}

class MaskPlanner {
  public:
    explicit MaskPlanner(KernelPlan &plan) : plan_(plan), masks_(plan.masks) {}

    void run() {
        masks_ = {};
        masks_.blocks.resize(plan_.function.blocks.size());
        masks_.starts_zero.assign(plan_.function.value_count(), false);
        masks_.independent_lanes = plan_.tier.tier == rt::Tier::Lanes;
        find_known_conditions();
        // Owners, and predecessors that are not latches, precede the blocks that take lanes from
        // them.
        for (const Block *block : plan_.schedule.order)
            flow(block).mask = mask(block);
        for (const Block *block : plan_.function.blocks)
            plan_edges(block);
        if (masks_.independent_lanes)
            return;
        number_dominators();
        for (const Block *block : plan_.schedule.order)
            if (flow(block).mask.collects || starts_phis(block))
                plan_start(block);
    }

  private:
    BlockFlow &flow(const Block *block) { return masks_.blocks[block->id]; }

    void find_known_conditions() {
        for (const Block *block : plan_.function.blocks)
            for (const Instruction *i : block->instructions) {
                if (i->results.size() != 1 || ir::bits(i->result()->type) != 1 ||
                    !plan_.coordinate_functions[i->result()->id])
                    continue;
                const analysis::PerThread *threads = plan_.thread_values.of(i->result());
                if (threads)
                    masks_.known.emplace(i->result(), lanes_of(*threads));
            }
    }

    BlockMask mask(const Block *block) {
        BlockMask made;
        if (masks_.independent_lanes)
            return made;
        const transform::BlockPlan &here = plan_.schedule.of(block);
        made.guarded = here.guarded && !is_cheaper_unguarded(plan_, block);
        if (made.guarded)
            made.skip_to = here.pending.empty() ? nullptr : here.pending.front();
        made.lanes = here.mask_owner == block ? own_lanes(block) : flow(here.mask_owner).mask.lanes;
        if (const auto lanes = in_all_warps(made.lanes)) {
            made.from = *lanes == kAllLanes ? BlockMask::From::Active : BlockMask::From::Known;
        } else if (here.mask_owner != block) {
            made.from = BlockMask::From::Owner;
            made.owner = here.mask_owner;
        } else {
            made.collects = made.clears = here.waited;
        }
        return made;
    }

    // However often lanes arrive through the only edge, they are the same lanes; but a warp may
    // visit the block without having taken the edge.
    LanesByWarp own_lanes(const Block *block) {
        if (block == plan_.function.entry())
            return LanesByWarp(plan_.launch.warps(), kAllLanes);
        if (block->predecessors.size() != 1)
            return {};
        const Block *before = block->predecessors.front();
        LanesByWarp lanes = flow(before).mask.lanes;
        if (!plan_.schedule.always_visits(before, block))
            return {};
        const Instruction &end = *before->terminator();
        if (end.is(Opcode::Jump))
            return lanes;
        if (!end.is(Opcode::Branch) || !plan_.divergence.divergent_branch[before->id] ||
            end.blocks[0] == end.blocks[1])
            return {};
        const auto known = masks_.known.find(end.operand(0));
        if (known == masks_.known.end())
            return {};
        for (std::size_t warp = 0; warp < lanes.size(); ++warp)
            lanes[warp] &= end.blocks[0] == block ? known->second[warp] : ~known->second[warp];
        return lanes;
    }

    void plan_edges(const Block *block) {
        const std::span<Block *const> targets = block->successors();
        const std::vector<const Block *> &next = plan_.schedule.of(block).next;
        if (next.empty() && !masks_.independent_lanes)
            return; // no warp reaches this block
        BlockFlow &here = flow(block);
        here.parts = masks_.independent_lanes ? targets.size() > 1
                                              : plan_.divergence.divergent_branch[block->id];
        for (unsigned i = 0; i < targets.size(); ++i) {
            // Lanes that end need no mask.
            if (here.parts && !masks_.independent_lanes && transform::only_exits(targets[i]))
                continue;
            const auto known = std::ranges::find(here.edges, targets[i], &Edge::to);
            if (here.parts && known != here.edges.end()) {
                known->successors.push_back(i);
                continue;
            }
            here.edges.push_back(
                {.to = targets[i],
                 .successors = {i},
                 .arrive = arrive(targets[i]),
                 .joins = joins(block, targets[i]),
                 .next = here.parts || masks_.independent_lanes ? nullptr : next[i]});
        }
        if ((here.parts || targets.empty()) && !masks_.independent_lanes)
            here.next = next.front();
    }

    Edge::Arrive arrive(const Block *to) {
        const BlockMask &mask = flow(to).mask;
        if (mask.from != BlockMask::From::Arrivals || masks_.independent_lanes)
            return Edge::Arrive::Nothing;
        return mask.collects ? Edge::Arrive::Add : Edge::Arrive::Set;
    }

    std::vector<Join> joins(const Block *from, const Block *to) {
        const bool others_are_there =
            masks_.independent_lanes ||
            (plan_.schedule.of(to).waited && !plan_.loops.back_edge(from, to));
        std::vector<Join> made;
        for (const Instruction *phi : to->instructions) {
            if (!phi->is(Opcode::Phi))
                break;
            const auto at = std::ranges::find(phi->blocks, from) - phi->blocks.begin();
            Join join{.phi = phi->result(), .value = phi->operands[static_cast<std::size_t>(at)]};
            // A scalar that the analysis shares between lanes may already contain the values of
            // other lanes (divergence.cpp).
            if (is_undefined(join.value)) {
                join.write = Join::Write::Keep;
                masks_.starts_zero[join.phi->id] = true;
            } else if (others_are_there && plan_.divergence.of(join.phi).divergent()) {
                join.write = Join::Write::Blend;
                masks_.starts_zero[join.phi->id] = true;
            }
            made.push_back(join);
        }
        return made;
    }

    // ---- where waiting begins ----

    [[nodiscard]] bool starts_phis(const Block *block) const {
        for (const Instruction *i : block->instructions)
            if (!i->is(Opcode::Phi))
                return false;
            else if (masks_.starts_zero[i->result()->id])
                return true;
        return false;
    }

    // Numbers the tree of dominators, so that those of one subtree are a range.
    void number_dominators() {
        const std::vector<const Block *> &order = plan_.schedule.order;
        std::vector<unsigned> sizes(plan_.function.blocks.size(), 1);
        for (const Block *block : std::views::reverse(order))
            if (const Block *up = plan_.schedule.of(block).dominator)
                sizes[up->id] += sizes[block->id];
        numbers_.assign(plan_.function.blocks.size(), 0);
        std::vector<unsigned> next = numbers_; // free number below each block
        for (const Block *block : order) {
            if (const Block *up = plan_.schedule.of(block).dominator) {
                numbers_[block->id] = next[up->id];
                next[up->id] += sizes[block->id];
            }
            next[block->id] = numbers_[block->id] + 1;
        }
        ends_.assign(numbers_.size(), 0);
        for (const Block *block : order)
            ends_[block->id] = numbers_[block->id] + sizes[block->id];
    }

    // The last dominator of the block and of all that lead to it where no lane waits for it yet.
    void plan_start(const Block *block) {
        unsigned first = numbers_[block->id], last = first;
        for (const Block *before : block->predecessors) {
            if (plan_.schedule.of(before).next.empty())
                continue; // no warp comes there
            first = std::min(first, numbers_[before->id]);
            last = std::max(last, numbers_[before->id]);
        }
        const Block *at = plan_.schedule.of(block).dominator;
        while (at && (numbers_[at->id] > first || ends_[at->id] <= last ||
                      std::ranges::find(plan_.schedule.of(at).pending, block) !=
                          plan_.schedule.of(at).pending.end()))
            at = plan_.schedule.of(at).dominator;
        if (!at)
            return; // the start of the function does it
        flow(at).starts.push_back(block);
        // Within one loop, each way from the block to itself leads round the loop.
        const int loop = plan_.loops.innermost(block);
        if (loop == plan_.loops.innermost(at) &&
            (loop == -1 || plan_.loops.loops()[static_cast<std::size_t>(loop)].header != block))
            flow(block).mask.clears = false;
    }

    KernelPlan &plan_;
    MaskPlan &masks_;
    /// By Block::id: the number in the tree of the schedule's dominators, and one more than the
    /// last number below.
    std::vector<unsigned> numbers_, ends_;
};

} // namespace

std::optional<std::uint32_t> in_all_warps(const LanesByWarp &lanes) {
    if (lanes.empty() || std::ranges::any_of(lanes, [&](auto l) { return l != lanes[0]; }))
        return std::nullopt;
    return lanes[0];
}

void plan_masks(KernelPlan &plan) { MaskPlanner(plan).run(); }

} // namespace softcuda::warp
