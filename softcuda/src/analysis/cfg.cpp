// cfg.cpp -- natural loops from back edges.

#include "analysis/cfg.h"

#include <algorithm>

namespace softcuda::analysis {

LoopForest::LoopForest(const ir::Function &function, const DominatorTree &dominators) {
    innermost_.assign(function.blocks.size(), -1);
    std::vector<ir::Block *> order = ir::reverse_postorder(function);
    std::vector<std::uint32_t> rank(function.blocks.size(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        rank[order[i]->id] = i;

    // Loop headers in reverse post-order: an outer loop's header precedes an inner loop's.
    for (ir::Block *header : order) {
        std::vector<ir::Block *> latches;
        for (ir::Block *predecessor : header->predecessors) {
            if (dominators.dominates(header, predecessor))
                latches.push_back(predecessor);
            else if (rank[predecessor->id] >= rank[header->id])
                reducible_ = false;
        }
        if (latches.empty())
            continue;
        Loop loop;
        loop.header = header;
        loop.latches = latches;
        loop.parent = innermost_[header->id];
        int index = static_cast<int>(loops_.size());
        std::vector<bool> inside(function.blocks.size(), false);
        inside[header->id] = true;
        loop.blocks.push_back(header);
        std::vector<ir::Block *> work = latches;
        while (!work.empty()) {
            ir::Block *block = work.back();
            work.pop_back();
            if (inside[block->id])
                continue;
            inside[block->id] = true;
            loop.blocks.push_back(block);
            work.insert(work.end(), block->predecessors.begin(), block->predecessors.end());
        }
        for (ir::Block *block : loop.blocks) {
            innermost_[block->id] = index;
            for (ir::Block *successor : block->successors())
                if (!inside[successor->id] &&
                    std::ranges::find(loop.exits, successor) == loop.exits.end())
                    loop.exits.push_back(successor);
        }
        loops_.push_back(std::move(loop));
    }
}

bool LoopForest::contains(int loop, const ir::Block *block) const {
    for (int at = innermost_[block->id]; at != -1; at = loops_[at].parent)
        if (at == loop)
            return true;
    return false;
}

bool LoopForest::back_edge(const ir::Block *from, const ir::Block *to) const {
    int loop = innermost_[to->id];
    return loop != -1 && loops_[loop].header == to && contains(loop, from);
}

bool LoopForest::may_repeat_loop(int loop, std::span<ir::Block *const> starts,
                                 const ir::Block *end) const {
    std::vector<bool> seen(innermost_.size(), false);
    std::vector<const ir::Block *> work(starts.begin(), starts.end());
    while (!work.empty()) {
        const ir::Block *block = work.back();
        work.pop_back();
        if (block == end || seen[block->id])
            continue;
        if (!contains(loop, block))
            return true; // a path that leaves the loop reaches `end` through an outer loop
        seen[block->id] = true;
        for (const ir::Block *successor : block->successors()) {
            if (successor == loops_[loop].header)
                return true;
            work.push_back(successor);
        }
    }
    return false;
}

} // namespace softcuda::analysis
