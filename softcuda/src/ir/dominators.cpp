// dominators.cpp -- dominators by the iteration of Cooper, Harvey and Kennedy.
//
// Blocks are visited in reverse postorder; the dominator of a block is where the paths up the tree
// from its predecessors meet. Reducible graphs settle in two rounds.
#include "ir/dominators.h"

#include <algorithm>

namespace softcuda::ir {

std::vector<Block *> reverse_postorder(const Function &function) {
    struct Visit {
        Block *block;
        std::size_t next;
    };
    std::vector<Block *> order;
    std::vector<bool> seen(function.blocks.size());
    std::vector<Visit> stack{{function.entry(), 0}};
    seen[function.entry()->id] = true;
    while (!stack.empty()) {
        Visit &top = stack.back();
        auto successors = top.block->successors();
        if (top.next == successors.size()) {
            order.push_back(top.block);
            stack.pop_back();
            continue;
        }
        Block *next = successors[top.next++];
        if (!seen[next->id]) {
            seen[next->id] = true;
            stack.push_back({next, 0});
        }
    }
    std::reverse(order.begin(), order.end());
    return order;
}

Dominators::Dominators(const Function &function)
    : function_(function), order_(ir::reverse_postorder(function)),
      place_(function.blocks.size(), 0) {
    constexpr std::uint32_t kUnknown = ~std::uint32_t{0};
    for (std::uint32_t i = 0; i < order_.size(); i++)
        place_[order_[i]->id] = i;
    immediate_.assign(order_.size(), kUnknown);
    immediate_[0] = 0;
    auto meet = [&](std::uint32_t a, std::uint32_t b) {
        while (a != b)
            (a > b ? a : b) = immediate_[std::max(a, b)];
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (std::uint32_t i = 1; i < order_.size(); i++) {
            std::uint32_t dominator = kUnknown;
            for (const Block *predecessor : order_[i]->predecessors) {
                std::uint32_t p = place_[predecessor->id];
                if (order_[p] != predecessor || immediate_[p] == kUnknown)
                    continue;
                dominator = dominator == kUnknown ? p : meet(dominator, p);
            }
            if (immediate_[i] != dominator) {
                immediate_[i] = dominator;
                changed = true;
            }
        }
    }
    number_tree();
}

void Dominators::number_tree() {
    std::vector<std::vector<std::uint32_t>> children(order_.size());
    for (std::uint32_t i = 1; i < order_.size(); i++)
        children[immediate_[i]].push_back(i);
    first_.resize(order_.size());
    last_.resize(order_.size());
    std::uint32_t clock = 0;
    std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
    first_[0] = clock++;
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

Block *Dominators::immediate(const Block &block) const {
    std::uint32_t place = place_[block.id];
    return place == 0 ? nullptr : order_[immediate_[place]];
}

bool Dominators::dominates(const Block &above, const Block &below) const {
    std::uint32_t a = place_[above.id], b = place_[below.id];
    return first_[a] <= first_[b] && last_[b] <= last_[a];
}

} // namespace softcuda::ir
