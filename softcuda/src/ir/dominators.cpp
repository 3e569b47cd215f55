// dominators.cpp -- dominators by iteration over reverse postorder.
//
// Blocks are visited in reverse postorder; the dominator of a block is where the paths up the tree
// from its predecessors meet. Reducible graphs settle in two rounds. (Cooper, Harvey and Kennedy,
// "A Simple, Fast Dominance Algorithm", 2001.)
#include "ir/dominators.h"

#include <utility>

namespace softcuda::ir {

namespace {

constexpr std::uint32_t kNowhere = ~0u;

// A graph as index lists, so that both directions of dominance share one algorithm.
struct Graph {
    std::vector<std::vector<std::uint32_t>> successors, predecessors;
    std::uint32_t root = 0;
};

std::vector<std::uint32_t> postorder(const Graph &graph) {
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
    std::vector<std::uint32_t> order = postorder(graph);
    std::vector<std::uint32_t> rank(graph.successors.size(), kNowhere);
    for (std::uint32_t i = 0; i < order.size(); ++i)
        rank[order[i]] = i;
    std::vector<std::uint32_t> idom(graph.successors.size(), kNowhere);
    idom[graph.root] = graph.root;
    auto meet = [&](std::uint32_t a, std::uint32_t b) {
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
                    best = best == kNowhere ? p : meet(best, p);
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

Graph forward_graph(const Function &function) {
    Graph graph;
    graph.successors.resize(function.blocks.size());
    graph.predecessors.resize(function.blocks.size());
    for (const Block *block : function.blocks)
        for (const Block *successor : block->successors())
            connect(graph, block->id, successor->id);
    return graph;
}

// Edges turned round, from a virtual end. A block in an endless loop reaches no exit: the last such
// block is tied to the end as well, so that every block has a place in the tree.
Graph backward_graph(const Function &function) {
    Graph graph;
    std::uint32_t count = static_cast<std::uint32_t>(function.blocks.size());
    graph.successors.resize(count + 1);
    graph.predecessors.resize(count + 1);
    graph.root = count;
    for (const Block *block : function.blocks) {
        for (const Block *successor : block->successors())
            connect(graph, successor->id, block->id);
        if (block->successors().empty())
            connect(graph, graph.root, block->id);
    }
    std::vector<bool> seen(count + 1, false);
    for (std::uint32_t node : postorder(graph))
        seen[node] = true;
    for (auto it = function.blocks.rbegin(); it != function.blocks.rend(); ++it) {
        if (seen[(*it)->id])
            continue;
        connect(graph, graph.root, (*it)->id);
        for (std::uint32_t node : postorder(graph))
            seen[node] = true;
    }
    return graph;
}

} // namespace

std::vector<Block *> reverse_postorder(const Function &function) {
    std::vector<std::uint32_t> order = postorder(forward_graph(function));
    std::vector<Block *> blocks;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
        blocks.push_back(function.blocks[*it]);
    return blocks;
}

DominatorTree::DominatorTree(const Function &function, Direction direction) {
    Graph graph =
        direction == Direction::Forward ? forward_graph(function) : backward_graph(function);
    std::vector<std::uint32_t> idom = immediate_dominators(graph);
    std::size_t count = function.blocks.size();
    parent_.assign(count, nullptr);
    for (std::size_t i = 0; i < count; ++i)
        if (idom[i] != kNowhere && idom[i] != i && idom[i] < count)
            parent_[i] = function.blocks[idom[i]];
    number_tree();
}

// An interval for each block that encloses those of the blocks below it: of a tree forward, of a
// forest backward, where the virtual end has no block.
void DominatorTree::number_tree() {
    std::size_t count = parent_.size();
    std::vector<std::vector<std::uint32_t>> children(count + 1);
    for (std::uint32_t i = 0; i < count; ++i)
        children[parent_[i] ? parent_[i]->id : count].push_back(i);
    first_.resize(count + 1);
    last_.resize(count + 1);
    std::uint32_t clock = 0;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;
    stack.emplace_back(static_cast<std::uint32_t>(count), 0);
    first_[count] = clock++;
    while (!stack.empty()) {
        auto &[node, next] = stack.back();
        if (next == children[node].size()) {
            last_[node] = clock;
            stack.pop_back();
            continue;
        }
        std::uint32_t child = children[node][next++];
        first_[child] = clock++;
        stack.emplace_back(child, 0);
    }
}

} // namespace softcuda::ir
