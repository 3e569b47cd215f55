// cfg.cpp -- dominators by iteration over reverse post-order, natural loops from back edges.

#include "analysis/cfg.h"

#include <algorithm>

namespace softcuda::analysis {

namespace {

constexpr std::uint32_t kNowhere = ~0u;

// A graph as index lists, so that both directions of dominance share one algorithm (Cooper, Harvey
// and Kennedy, "A Simple, Fast Dominance Algorithm", 2001). Node `root` reaches every node.
struct Graph {
    std::vector<std::vector<std::uint32_t>> successors, predecessors;
    std::uint32_t root = 0;
};

std::vector<std::uint32_t> post_order(const Graph &graph) {
    std::vector<std::uint32_t> order;
    std::vector<bool> seen(graph.successors.size(), false);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{graph.root, 0}};
    seen[graph.root] = true;
    while (!stack.empty()) {
        auto &[node, next] = stack.back();
        if (next == graph.successors[node].size()) {
            order.push_back(node);
            stack.pop_back();
            continue;
        }
        std::uint32_t successor = graph.successors[node][next++];
        if (!seen[successor]) {
            seen[successor] = true;
            stack.emplace_back(successor, 0);
        }
    }
    return order;
}

std::vector<std::uint32_t> immediate_dominators(const Graph &graph) {
    std::vector<std::uint32_t> order = post_order(graph);
    std::vector<std::uint32_t> rank(graph.successors.size(), kNowhere);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        rank[order[i]] = i;
    std::vector<std::uint32_t> idom(graph.successors.size(), kNowhere);
    idom[graph.root] = graph.root;
    auto intersect = [&](std::uint32_t a, std::uint32_t b) {
        while (a != b) {
            while (rank[a] < rank[b])
                a = idom[a];
            while (rank[b] < rank[a])
                b = idom[b];
        }
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            if (*it == graph.root)
                continue;
            std::uint32_t best = kNowhere;
            for (std::uint32_t p : graph.predecessors[*it])
                if (rank[p] != kNowhere && idom[p] != kNowhere)
                    best = best == kNowhere ? p : intersect(best, p);
            if (best != idom[*it]) {
                idom[*it] = best;
                changed = true;
            }
        }
    }
    return idom;
}

void connect(Graph &graph, std::uint32_t from, std::uint32_t to) {
    graph.successors[from].push_back(to);
    graph.predecessors[to].push_back(from);
}

Graph forward_graph(const ir::Function &function) {
    Graph graph;
    graph.successors.resize(function.blocks.size());
    graph.predecessors.resize(function.blocks.size());
    for (const ir::Block *block : function.blocks)
        for (const ir::Block *successor : block->successors())
            connect(graph, block->id, successor->id);
    return graph;
}

// Edges turned round, from a virtual end. A block in an endless loop reaches no exit: the last such
// block is tied to the end as well, so that every block has a place in the tree.
Graph backward_graph(const ir::Function &function) {
    Graph graph;
    std::uint32_t count = static_cast<std::uint32_t>(function.blocks.size());
    graph.successors.resize(count + 1);
    graph.predecessors.resize(count + 1);
    graph.root = count;
    for (const ir::Block *block : function.blocks) {
        for (const ir::Block *successor : block->successors())
            connect(graph, successor->id, block->id);
        if (block->successors().empty())
            connect(graph, graph.root, block->id);
    }
    std::vector<bool> seen(count + 1, false);
    for (std::uint32_t node : post_order(graph))
        seen[node] = true;
    for (auto it = function.blocks.rbegin(); it != function.blocks.rend(); ++it) {
        if (seen[(*it)->id])
            continue;
        connect(graph, graph.root, (*it)->id);
        for (std::uint32_t node : post_order(graph))
            seen[node] = true;
    }
    return graph;
}

} // namespace

std::vector<ir::Block *> reverse_post_order(const ir::Function &function) {
    std::vector<std::uint32_t> order = post_order(forward_graph(function));
    std::vector<ir::Block *> blocks;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
        blocks.push_back(function.blocks[*it]);
    return blocks;
}

DominatorTree::DominatorTree(const ir::Function &function, Direction direction) {
    Graph graph =
        direction == Direction::Forward ? forward_graph(function) : backward_graph(function);
    std::vector<std::uint32_t> idom = immediate_dominators(graph);
    std::size_t count = function.blocks.size();
    parent_.assign(count, nullptr);
    for (std::size_t i = 0; i < count; ++i)
        if (idom[i] != kNowhere && idom[i] != i && idom[i] < count)
            parent_[i] = function.blocks[idom[i]];
    depth_.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        for (const ir::Block *up = parent_[i]; up; up = parent_[up->id])
            ++depth_[i];
}

bool DominatorTree::dominates(const ir::Block *a, const ir::Block *b) const {
    while (depth_[b->id] > depth_[a->id])
        b = parent_[b->id];
    return a == b;
}

LoopForest::LoopForest(const ir::Function &function, const DominatorTree &dominators) {
    innermost_.assign(function.blocks.size(), -1);
    std::vector<ir::Block *> order = reverse_post_order(function);
    std::vector<std::uint32_t> rank(function.blocks.size(), 0);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        rank[order[i]->id] = i;

    // Headers in reverse post-order: an outer loop's header comes before an inner one's.
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

} // namespace softcuda::analysis
