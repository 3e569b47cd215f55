// verify_masks.cpp -- checks that a plan of masks passes every lane and every value on.
#include "warp/kernel_plan.h"
#include "warp/mask_plan.h"
#include "warp/walk_warp.h"

#include <algorithm>

namespace softcuda::warp {

namespace {

constexpr std::uint32_t kWalks = 8;

using From = BlockMask::From;
using ir::Block;
using ir::Instruction;
using ir::Opcode;

class MaskVerifier {
  public:
    explicit MaskVerifier(const KernelPlan &plan) : plan_(plan), masks_(plan.masks) {}

    std::vector<std::string> run() {
        for (const Block *block : plan_.function.blocks) {
            if (plan_.schedule.of(block).next.empty() && !masks_.independent_lanes)
                continue; // no warp reaches this block
            check_mask(block);
            check_successors(block);
            for (const Edge &edge : masks_.of(block).edges)
                check_edge(block, edge);
        }
        if (!masks_.independent_lanes)
            for (const Block *block : plan_.schedule.order)
                check_guard(block);
        for (std::uint32_t seed = 1; seed <= kWalks && wrong_.empty(); ++seed)
            if (std::string found = walk(seed); !found.empty())
                wrong_.push_back(std::move(found));
        return std::move(wrong_);
    }

  private:
    void require(bool holds, const Block *block, const std::string &what) {
        if (!holds)
            wrong_.push_back("basic block " + block->name + ": " + what);
    }

    void check_mask(const Block *block) {
        const BlockMask &mask = masks_.of(block).mask;
        require(!mask.clears || mask.collects, block, "clears arrivals that it does not collect");
        require(!mask.collects || mask.from == From::Arrivals, block,
                "collects arrivals, but has another mask");
        for (const Block *waiting : masks_.of(block).starts) {
            const std::vector<const Block *> &pending = plan_.schedule.of(block).pending;
            require(plan_.schedule.always_visits(block, waiting) && waiting != block, block,
                    "starts " + waiting->name + ", which a warp may visit earlier");
            require(std::ranges::find(pending, waiting) == pending.end(), block,
                    "starts " + waiting->name + ", although lanes wait there");
        }
        if (mask.from != From::Owner)
            return;
        require(mask.owner && masks_.keeps_mask(mask.owner), block,
                "has the mask of a basic block that keeps no mask");
        require(mask.owner && plan_.schedule.always_visits(mask.owner, block), block,
                "has the mask of a basic block that the warp may not have visited");
    }

    /// Simulates a warp. Independent lanes cannot lose each other's values, so they need no
    /// simulation.
    [[nodiscard]] std::string walk(std::uint32_t seed) const {
        return masks_.independent_lanes ? std::string() : walk_warp(plan_, seed);
    }

    // Each lane has exactly one next block.
    void check_successors(const Block *block) {
        const BlockFlow &flow = masks_.of(block);
        std::vector<unsigned> times(block->successors().size(), 0);
        for (const Edge &edge : flow.edges)
            for (unsigned i : edge.successors) {
                require(i < times.size() && block->successors()[i] == edge.to, block,
                        "has an edge to a basic block that is not a successor");
                ++times.at(i);
            }
        for (std::size_t i = 0; i < times.size(); ++i) {
            const bool may_end =
                flow.parts && times[i] == 0 && transform::only_exits(block->successors()[i]);
            require(times[i] == 1 || may_end, block,
                    "successor " + block->successors()[i]->name + " is on " +
                        std::to_string(times[i]) + " edges");
        }
    }

    void check_edge(const Block *block, const Edge &edge) {
        const BlockMask &target = masks_.of(edge.to).mask;
        const bool arrives = target.from == From::Arrivals && !masks_.independent_lanes;
        const Edge::Arrive wanted = !arrives          ? Edge::Arrive::Nothing
                                    : target.collects ? Edge::Arrive::Add
                                                      : Edge::Arrive::Set;
        require(edge.arrive == wanted, block,
                "the arrivals of its lanes do not match the mask of " + edge.to->name);
        std::size_t count = 0;
        for (const Instruction *phi : edge.to->instructions) {
            if (!phi->is(Opcode::Phi))
                break;
            const auto join = std::ranges::find(edge.joins, phi->result(), &Join::phi);
            require(join != edge.joins.end(), block, "has no value for a phi of " + edge.to->name);
            if (join == edge.joins.end())
                continue;
            ++count;
            check_join(block, edge, *phi, *join);
        }
        require(count == edge.joins.size(), block,
                "joins a value that is not a phi of " + edge.to->name);
    }

    void check_join(const Block *block, const Edge &edge, const Instruction &phi,
                    const Join &join) {
        bool is_operand = false;
        for (std::size_t i = 0; i < phi.blocks.size(); ++i)
            is_operand |= phi.blocks[i] == block && phi.operands[i] == join.value;
        require(is_operand, block, "has the value of another edge for a phi of " + edge.to->name);
        const bool undefined = join.value->definition && join.value->definition->is(Opcode::Undef);
        require(undefined == (join.write == Join::Write::Keep), block,
                "writes an undefined value to " + edge.to->name + ", or drops a defined value");
        require(join.write == Join::Write::Set || masks_.starts_zero[phi.result()->id], block,
                "writes a phi of " + edge.to->name + " in too few lanes");
        // Lanes that wait at the target have their values in the phi.
        const bool others = masks_.independent_lanes || (plan_.schedule.of(edge.to).waited &&
                                                         !plan_.loops.back_edge(block, edge.to));
        require(!others || join.write != Join::Write::Set ||
                    !plan_.divergence.of(join.phi).divergent(),
                block, "overwrites values of lanes that wait at " + edge.to->name);
    }

    // A warp that reaches a basic block without having sent lanes there may have no lanes.
    void check_guard(const Block *from) {
        const BlockFlow &flow = masks_.of(from);
        if (flow.mask.guarded && flow.mask.skip_to)
            require_guard(flow.mask.skip_to);
        if (flow.parts && flow.next)
            require_guard(flow.next);
        for (const Edge &edge : flow.edges)
            if (edge.next && edge.next != edge.to)
                require_guard(edge.next);
    }

    void require_guard(const Block *block) {
        const BlockMask &mask = masks_.of(block).mask;
        const bool only_stores = std::ranges::all_of(block->instructions, [&](const auto *i) {
            return i->is(Opcode::Store) || i == block->terminator();
        });
        require(mask.from != From::Arrivals || mask.guarded || only_stores, block,
                "may run without an active lane");
    }

    const KernelPlan &plan_;
    const MaskPlan &masks_;
    std::vector<std::string> wrong_;
};

} // namespace

std::vector<std::string> verify_masks(const KernelPlan &plan) { return MaskVerifier(plan).run(); }

} // namespace softcuda::warp
