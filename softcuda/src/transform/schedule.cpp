// schedule.cpp -- topological order, pending blocks, and reuse of masks.

#include "transform/schedule.h"

#include "transform/may_reach.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace softcuda::transform {

namespace {

using analysis::DominatorTree;
using analysis::LoopForest;
using ir::Block;
using ir::Opcode;

// Orders the blocks level by level: a loop counts as one node of its level, and is then ordered
// inside.
class LevelOrder {
  public:
    LevelOrder(const ir::Function &function, const LoopForest &loops)
        : loops_(loops), seen_(function.blocks.size(), false) {
        emit_level(-1, function.entry());
    }
    std::vector<const Block *> take() { return std::move(order_); }

  private:
    // The node at `level` for the block: the block itself, or the header of the loop that contains
    // it. Null if the block is not inside the level's loop.
    const Block *node_at(int level, const Block *block) const {
        int loop = loops_.innermost(block);
        const Block *node = block;
        while (loop != level) {
            if (loop == -1)
                return nullptr;
            node = loops_.loops()[loop].header;
            loop = loops_.loops()[loop].parent;
        }
        return node;
    }

    std::vector<const Block *> successors(int level, const Block *node) const {
        int loop = loops_.innermost(node);
        std::vector<const Block *> targets;
        auto add = [&](const Block *target) {
            if (const Block *n = node_at(level, target))
                targets.push_back(n);
        };
        if (loop == level)
            for (const Block *successor : node->successors())
                add(successor);
        else
            for (const Block *exit : loops_.loops()[loop].exits)
                add(exit);
        return targets;
    }

    void emit_level(int level, const Block *entry) {
        std::vector<const Block *> post_order;
        std::vector<std::pair<const Block *, std::vector<const Block *>>> stack;
        auto push = [&](const Block *node) {
            seen_[node->id] = true;
            stack.emplace_back(node, successors(level, node)); // the last one is visited first
        };
        push(entry);
        while (!stack.empty()) {
            auto &[node, targets] = stack.back();
            if (targets.empty()) {
                post_order.push_back(node);
                stack.pop_back();
                continue;
            }
            const Block *target = targets.back();
            targets.pop_back();
            if (target != entry && !seen_[target->id])
                push(target);
        }
        for (auto it = post_order.rbegin(); it != post_order.rend(); ++it) {
            int loop = loops_.innermost(*it);
            if (loop == level)
                order_.push_back(*it);
            else
                emit_level(loop, *it);
        }
    }

    const LoopForest &loops_;
    std::vector<bool> seen_;
    std::vector<const Block *> order_;
};

class Planner {
  public:
    Planner(const ir::Function &function, const analysis::Divergence &divergence,
            const LoopForest &loops, const DominatorTree &dominators,
            const DominatorTree &post_dominators)
        : function_(function), divergence_(divergence), loops_(loops), dominators_(dominators),
          post_dominators_(post_dominators) {
        schedule_.order = LevelOrder(function, loops).take();
        schedule_.plans.resize(function.blocks.size());
        rank_.resize(function.blocks.size());
        for (std::size_t i = 0; i < schedule_.order.size(); ++i)
            rank_[schedule_.order[i]->id] = i;
        for (const Block *block : schedule_.order)
            owned_above_.push_back(owner_above(block));
    }

    Schedule run() {
        unrouted_.assign(function_.blocks.size(), true);
        do {
            while (std::ranges::find(unrouted_, true) != unrouted_.end())
                for (const Block *block : schedule_.order)
                    if (unrouted_[block->id]) {
                        unrouted_[block->id] = false;
                        route(block);
                    }
            mark_waiting();
            for (const Block *block : schedule_.order)
                plan(block).mask_owner = find_mask_owner(block);
            place_guards();
        } while (route_skips());
        find_dominators();
        find_divergent_barriers();
        return std::move(schedule_);
    }

  private:
    BlockPlan &plan(const Block *block) { return schedule_.plans[block->id]; }
    bool divergent(const Block *block) const { return divergence_.divergent_branch[block->id]; }

    // Chooses the warp's next block after `block`, and passes the other pending blocks on to it.
    void route(const Block *block) {
        std::span<Block *const> targets = block->successors();
        BlockPlan &here = plan(block);
        here.next.assign(std::max<std::size_t>(targets.size(), 1), nullptr);
        if (divergent(block)) {
            std::vector<const Block *> todo;
            for (const Block *target : targets)
                if (!only_exits(target))
                    todo.push_back(target);
            std::ranges::fill(here.next, go_on(block, std::move(todo)));
            return;
        }
        for (std::size_t i = 0; i < targets.size(); ++i)
            here.next[i] = go_on(block, {targets[i]});
        if (targets.empty())
            here.next[0] = go_on(block, {});
    }

    auto by_rank() const {
        return [this](const Block *block) { return rank_[block->id]; };
    }

    // A back edge of a loop precedes all others: pending blocks inside the loop have been visited,
    // and the others wait until the loop ends.
    const Block *go_on(const Block *from, std::vector<const Block *> targets) {
        std::ranges::sort(targets, {}, by_rank());
        const auto twice = std::ranges::unique(targets);
        targets.erase(twice.begin(), twice.end());
        std::vector<const Block *> todo = united(targets, plan(from).pending);
        if (todo.empty())
            return nullptr;
        const auto next =
            std::ranges::find_if(todo, [&](const Block *to) { return loops_.back_edge(from, to); });
        const Block *found = next == todo.end() ? todo.front() : *next;
        std::erase(todo, found);
        add_pending(found, todo);
        return found;
    }

    // All blocks of two lists that are in order.
    std::vector<const Block *> united(std::span<const Block *const> a,
                                      std::span<const Block *const> b) const {
        std::vector<const Block *> all;
        all.reserve(a.size() + b.size());
        std::ranges::set_union(a, b, std::back_inserter(all), {}, by_rank(), by_rank());
        return all;
    }

    // Returns whether one of the blocks was not pending there. The block is routed again then.
    bool add_pending(const Block *block, std::span<const Block *const> added) {
        std::vector<const Block *> &pending = plan(block).pending;
        if (std::ranges::includes(pending, added, {}, by_rank(), by_rank()))
            return false;
        pending = united(added, pending);
        unrouted_[block->id] = true;
        return true;
    }

    // A divergent loop's header has other lanes in each iteration. In other cases, the lanes are
    // known if all lanes of an earlier block reach this block, or if all predecessors have one
    // common mask.
    const Block *find_mask_owner(const Block *block) {
        int loop = loops_.innermost(block);
        bool header = loop != -1 && loops_.loops()[loop].header == block;
        if (header && divergence_.divergent_loop[loop])
            return block;
        if (const Block *up = owned_above_[rank_[block->id]])
            return plan(up).mask_owner;
        if (const Block *owner = common_owner(block))
            return owner;
        return block;
    }

    // An earlier block all of whose lanes reach this block.
    const Block *owner_above(const Block *block) const {
        int loop = loops_.innermost(block);
        const bool header = loop != -1 && loops_.loops()[loop].header == block;
        return equivalent_dominator(block, header ? loops_.loops()[loop].parent : loop);
    }

    // The nearest dominator in the loop `home` all of whose lanes reach this block, if there is
    // one.
    const Block *equivalent_dominator(const Block *block, int home) const {
        for (const Block *up = dominators_.parent(block); up; up = dominators_.parent(up)) {
            if (loops_.innermost(up) != home)
                continue; // inside a loop that has ended
            return post_dominators_.dominates(block, up) && !may_part(up, block) ? up : nullptr;
        }
        return nullptr;
    }

    // Whether some lanes may repeat a loop between two blocks, so that they reach the second block
    // in another iteration than others: loop { up: if (x) continue;  block: ... }
    bool may_part(const Block *up, const Block *block) const {
        const int home = loops_.innermost(up);
        std::vector<bool> seen(function_.blocks.size(), false);
        std::vector<const Block *> work{up};
        while (home != -1 && !work.empty()) {
            const Block *at = work.back();
            work.pop_back();
            if (at == block || seen[at->id])
                continue;
            seen[at->id] = true;
            for (int loop = divergent(at) ? home : -1; loop != -1;
                 loop = loops_.loops()[loop].parent)
                if (loops_.may_repeat_loop(loop, at->successors(), block))
                    return true;
            work.insert(work.end(), at->successors().begin(), at->successors().end());
        }
        return false;
    }

    // A guarded block is skipped if it has no lanes: the first pending block is next, and the
    // others stay pending. Example for a loop with two exits:
    //
    //     loop:  branch a, out1, more      pending out1, out2; skipped when all lanes have left
    //     more:  branch b, loop, out2      to out1, where out2 is still pending
    bool route_skips() {
        bool changed = false;
        for (const Block *block : schedule_.order) {
            const std::vector<const Block *> &waiting = plan(block).pending;
            if (plan(block).guarded && !waiting.empty())
                changed |= add_pending(waiting.front(), std::span(waiting).subspan(1));
        }
        return changed;
    }

    // The common mask owner of all predecessors, if the warp always arrives with all of its lanes.
    const Block *common_owner(const Block *block) {
        if (plan(block).waited)
            return nullptr;
        const Block *owner = nullptr;
        for (const Block *predecessor : block->predecessors) {
            if (loops_.back_edge(predecessor, block))
                continue;
            const Block *theirs = plan(predecessor).mask_owner;
            if (divergent(predecessor) || !theirs || (owner && owner != theirs))
                return nullptr;
            owner = theirs;
        }
        return owner;
    }

    void mark_waiting() {
        for (const Block *block : schedule_.order)
            for (const Block *waiting : plan(block).pending)
                plan(waiting).waited = true;
    }

    // A block needs a guard if the warp may arrive without lanes: after a divergent branch, or
    // because lanes might have been waiting.
    void place_guards() {
        for (const Block *block : schedule_.order) {
            for (const Block *next : plan(block).next) {
                if (!next)
                    continue;
                bool direct = !divergent(block) && std::ranges::find(block->successors(), next) !=
                                                       block->successors().end();
                if (!direct)
                    plan(next).guarded = true;
            }
        }
        for (const Block *block : schedule_.order) {
            BlockPlan &here = plan(block);
            here.guarded |= here.waited;
            if (here.mask_owner != block)
                here.guarded = false;
        }
    }

    // The next blocks of a warp after a block, with lanes or without.
    std::vector<const Block *> ways_of_warp(const Block *block) {
        std::vector<const Block *> ways;
        for (const Block *next : plan(block).next)
            if (next)
                ways.push_back(next);
        if (plan(block).guarded && !plan(block).pending.empty())
            ways.push_back(plan(block).pending.front());
        return ways;
    }

    // Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". The order is topological
    // except for back edges.
    void find_dominators() {
        std::vector<std::vector<const Block *>> from(function_.blocks.size());
        for (const Block *block : schedule_.order)
            for (const Block *next : ways_of_warp(block))
                from[next->id].push_back(block);
        auto common = [&](const Block *a, const Block *b) {
            while (a != b) {
                const Block *&later = rank_[a->id] > rank_[b->id] ? a : b;
                later = plan(later).dominator;
            }
            return a;
        };
        for (bool changed = true; changed;) {
            changed = false;
            for (const Block *block : schedule_.order) {
                const Block *found = nullptr;
                for (const Block *before : from[block->id])
                    if (before == function_.entry() || plan(before).dominator)
                        found = found ? common(found, before) : before;
                if (block == function_.entry() || found == plan(block).dominator)
                    continue;
                plan(block).dominator = found;
                changed = true;
            }
        }
    }

    void find_divergent_barriers() {
        for (const Block *block : schedule_.order)
            for (const ir::Instruction *i : block->instructions) {
                if (!ir::is_block_barrier(*i) || plan(block).pending.empty())
                    continue;
                if (!schedule_.divergent_barrier)
                    schedule_.divergent_barrier = i;
                if (!schedule_.split_barrier && i->attributes.apart &&
                    leads_to_barrier(plan(block).pending))
                    schedule_.split_barrier = i;
            }
    }

    bool leads_to_barrier(const std::vector<const Block *> &waiting) const {
        return may_reach(
            function_, waiting,
            [&](const ir::Instruction &i) { // called functions and callers may have barriers
                return ir::is_block_barrier(i) || i.is(Opcode::Call) ||
                       (i.is(Opcode::Return) && !function_.kernel);
            },
            [](const ir::Instruction &) { return false; });
    }

    const ir::Function &function_;
    const analysis::Divergence &divergence_;
    const LoopForest &loops_;
    const DominatorTree &dominators_;
    const DominatorTree &post_dominators_;
    Schedule schedule_;
    std::vector<std::size_t> rank_;          ///< by Block::id: where it is in the order
    std::vector<const Block *> owned_above_; ///< by rank: owner_above()
    std::vector<bool> unrouted_;             ///< by Block::id: what is pending there has changed
};

} // namespace

bool Schedule::always_visits(const ir::Block *earlier, const ir::Block *block) const {
    while (block && block != earlier)
        block = of(block).dominator;
    return block == earlier;
}

bool only_exits(const ir::Block *block) {
    return block->instructions.size() == 1 &&
           (block->terminator()->is(Opcode::Exit) || block->terminator()->is(Opcode::Return)) &&
           block->terminator()->operands.empty();
}

Schedule plan_schedule(const ir::Function &function, const analysis::Divergence &divergence,
                       const LoopForest &loops, const DominatorTree &dominators,
                       const DominatorTree &post_dominators) {
    return Planner(function, divergence, loops, dominators, post_dominators).run();
}

} // namespace softcuda::transform
