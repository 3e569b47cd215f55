// divergence.cpp -- shapes and divergent control flow, computed together by iteration.
//
// They depend on each other: a branch on a value that differs between lanes is divergent; where
// lanes reconverge after different paths, a phi selects a different operand for each lane, so its
// value differs between lanes. A shape only changes to a less precise one, so the iteration
// terminates.

#include "analysis/shape.h"
#include "analysis/shape_rules.h"

#include <algorithm>

namespace softcuda::analysis {

namespace {

constexpr std::uint32_t kNoLabel = ~0u;

class DivergenceFinder {
  public:
    DivergenceFinder(const ir::Function &function, const LaunchShape &launch,
                     const std::vector<Range> &ranges, const LoopForest &loops,
                     const DominatorTree &post_dominators, LaneOrder lanes)
        : independent_(lanes == LaneOrder::Independent && !launch.is_one_thread()),
          function_(function), loops_(loops), post_dominators_(post_dominators),
          order_(ir::reverse_postorder(function)),
          rules_(launch, ranges, found_.shapes, found_.patterns) {
        found_.shapes.resize(function.value_count());
        found_.divergent_branch.assign(function.blocks.size(), false);
        found_.divergent_join.assign(function.blocks.size(), false);
        found_.divergent_loop.assign(loops.loops().size(), false);
        rank_.resize(function.blocks.size());
        for (std::uint32_t i = 0; i < order_.size(); ++i)
            rank_[order_[i]->id] = i;
        for (const ir::Value *argument : function.arguments)
            found_.shapes[argument->id] =
                launch.is_one_thread() ? Shape{.groups = 1} : Shape{.groups = kLanes};
    }

    // The rules refer to found_, so it is moved out at the end.
    Divergence run() {
        do {
            while (update_all())
                ;
        } while (settle_undefined());
        return std::move(found_);
    }

  private:
    bool update_all() {
        bool changed = false;
        for (const ir::Block *block : order_) {
            for (const ir::Instruction *i : block->instructions)
                changed |= update(*i);
            changed |= update_branch(*block);
        }
        return changed;
    }

    // A value that depends only on itself in a loop, or on a register that was never set, has no
    // shape at the end. It is undefined, so it can be treated as uniform.
    bool settle_undefined() {
        bool changed = false;
        for (const ir::Block *block : order_)
            for (const ir::Instruction *i : block->instructions)
                for (const ir::Value *result : i->results)
                    if (Shape &shape = found_.shapes[result->id]; !shape.known()) {
                        shape = Shape{.groups = 1};
                        changed = true;
                    }
        return changed;
    }

    bool update(const ir::Instruction &i) {
        bool changed = false;
        for (const ir::Value *result : i.results) {
            Shape shape = i.is(ir::Opcode::Phi) ? phi(i) : rules_.evaluate(i, *result);
            if (independent_ && shape.known() && depends_on_time(i))
                shape = Shape{.groups = kLanes};
            Shape &old = found_.shapes[result->id];
            shape = meet(old, shape, found_.patterns);
            if (shape == old)
                continue;
            old = shape;
            changed = true;
        }
        return changed;
    }

    static bool depends_on_time(const ir::Instruction &i) {
        const ir::OpcodeInfo &opcode = ir::info(i.opcode);
        return i.is(ir::Opcode::Phi) || !opcode.pure || opcode.convergent;
    }

    Shape phi(const ir::Instruction &i) {
        Shape joined;
        const ir::Value *only = nullptr;
        bool several = false;
        for (const ir::Value *operand : i.operands) {
            if (operand == i.result() || is_undef(operand))
                continue;
            several |= only && only != operand;
            only = operand;
            joined = meet(joined, rules_.operand(operand), found_.patterns);
        }
        if (!only)
            return Shape{.groups = 1};
        // A uniform value that is used outside a divergent loop still differs: each lane has the
        // value of its last iteration.
        bool leaves_loop = only && loops_.innermost(i.block) != loop_of(only);
        if (found_.divergent_join[i.block->id] && (several || leaves_loop) && joined.known())
            return Shape{.groups = kLanes};
        return joined;
    }

    static bool is_undef(const ir::Value *value) {
        return value->definition && value->definition->is(ir::Opcode::Undef);
    }

    int loop_of(const ir::Value *value) const {
        return value->definition ? loops_.innermost(value->definition->block) : -1;
    }

    bool update_branch(const ir::Block &block) {
        const ir::Instruction &branch = *block.terminator();
        if (branch.blocks.size() < 2 || found_.divergent_branch[block.id])
            return false;
        Shape condition = rules_.operand(branch.operand(0));
        if (!condition.known() || condition.uniform())
            return false;
        found_.divergent_branch[block.id] = true;
        const ir::Block *end = post_dominators_.parent(&block);
        mark_joins(block.successors(), meeting(block.successors(), end, loops_.innermost(&block)));
        std::span<ir::Block *const> ways = block.successors();
        for (int loop = loops_.innermost(&block); loop != -1; loop = loops_.loops()[loop].parent) {
            if (end && loops_.contains(loop, end)) {
                if (!loops_.may_repeat_loop(loop, ways, end))
                    break;
                ways = loops_.loops()[loop].exits;
                end = common_post_dominator(ways);
            }
            mark_loop(loop);
        }
        return true;
    }

    // Returns `end` if lanes that take these paths reconverge there. Returns null if some lanes
    // reach it in a later iteration than others:
    //
    //     loop { if (x) continue;  end: ...  if (y) break; }
    const ir::Block *meeting(std::span<ir::Block *const> ways, const ir::Block *end,
                             int loop) const {
        for (; end && loop != -1; loop = loops_.loops()[loop].parent)
            if (loops_.contains(loop, end) && loops_.may_repeat_loop(loop, ways, end))
                return nullptr;
        return end;
    }

    const ir::Block *common_post_dominator(std::span<ir::Block *const> blocks) const {
        const ir::Block *found = blocks.empty() ? nullptr : blocks[0];
        auto is_common = [&] {
            return std::ranges::all_of(blocks, [&](const ir::Block *block) {
                return post_dominators_.dominates(found, block);
            });
        };
        while (found && !is_common())
            found = post_dominators_.parent(found);
        return found;
    }

    // Lanes leave this loop in different iterations, and possibly to different blocks.
    void mark_loop(int index) {
        if (found_.divergent_loop[index])
            return;
        found_.divergent_loop[index] = true;
        const Loop &loop = loops_.loops()[index];
        for (const ir::Block *exit : loop.exits)
            found_.divergent_join[exit->id] = true;
        mark_joins(loop.exits, meeting(loop.exits, common_post_dominator(loop.exits), loop.parent));
    }

    // Propagates a different label along each path and marks the blocks where two labels meet, up
    // to the block where all paths reconverge. Ignores back edges: mark_loop() handles lanes that
    // repeat a loop.
    void mark_joins(std::span<ir::Block *const> starts, const ir::Block *end) {
        std::vector<std::uint32_t> label(function_.blocks.size(), kNoLabel);
        std::vector<std::uint32_t> work;
        auto reach = [&](const ir::Block *block, std::uint32_t with) {
            std::uint32_t &at = label[block->id];
            if (at == kNoLabel) {
                at = with;
                work.push_back(rank_[block->id]);
                std::ranges::push_heap(work, std::greater{});
            } else if (at != with) {
                found_.divergent_join[block->id] = true;
                at = block->id;
            }
        };
        for (const ir::Block *start : starts)
            reach(start, start->id);
        while (!work.empty()) {
            std::ranges::pop_heap(work, std::greater{});
            const ir::Block *block = order_[work.back()];
            work.pop_back();
            if (block == end)
                continue;
            for (const ir::Block *successor : block->successors())
                if (!loops_.back_edge(block, successor))
                    reach(successor, label[block->id]);
        }
    }

    bool independent_; ///< lanes may come to an instruction at different times
    const ir::Function &function_;
    const LoopForest &loops_;
    const DominatorTree &post_dominators_;
    std::vector<ir::Block *> order_;
    std::vector<std::uint32_t> rank_;
    Divergence found_;
    ShapeRules rules_;
};

} // namespace

Divergence find_divergence(const ir::Function &function, const LaunchShape &launch,
                           const std::vector<Range> &ranges, const LoopForest &loops,
                           const DominatorTree &post_dominators, LaneOrder order) {
    return DivergenceFinder(function, launch, ranges, loops, post_dominators, order).run();
}

} // namespace softcuda::analysis
