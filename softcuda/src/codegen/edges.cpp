// edges.cpp -- lanes and phis on edges.
#include "codegen/edges.h"

#include <utility>
#include <vector>

namespace softcuda::codegen {

using ir::Opcode;

namespace {

/// A value in the shape of a phi.
Lanes at_phi(WarpEmitter &w, const ir::Value *phi, const Lanes &incoming) {
    const analysis::Shape &wanted = w.shape(phi);
    Lanes value{.base = wanted.checked ? refined_bases(w.b, incoming, wanted.groups)
                                       : first_lanes(w.b, incoming, wanted.groups),
                .shape = wanted};
    if (wanted.checked) {
        value.wrapped = incoming.wrapped ? incoming.wrapped : w.b.getFalse();
        value.correction = incoming.correction
                               ? incoming.correction
                               : llvm::Constant::getNullValue(w.type(phi->type, kLanes));
    }
    return value;
}

} // namespace

llvm::SmallVector<llvm::Value *, 4> edge_masks(WarpEmitter &w, const ir::Block *block) {
    const ir::Instruction &end = *block->terminator();
    const std::vector<warp::Edge> &edges = w.kernel.plan.masks.of(block).edges;
    llvm::SmallVector<llvm::Value *, 4> masks(edges.size(), nullptr);
    if (edges.empty())
        return masks;
    llvm::Value *condition = w.full(end.operand(0));
    llvm::Value *rest = w.mask();
    for (unsigned i = 0; i < block->successors().size(); ++i) {
        llvm::Value *taken = rest;
        if (end.is(Opcode::Branch))
            taken = i == 0 ? condition : w.b.CreateNot(condition);
        else if (i + 1 < block->successors().size())
            taken = w.b.CreateICmpEQ(condition, llvm::ConstantInt::get(condition->getType(), i));
        llvm::Value *lanes = w.b.CreateAnd(w.mask(), taken, "edge");
        if (end.is(Opcode::Switch))
            rest = w.b.CreateAnd(rest, w.b.CreateNot(taken));
        for (std::size_t k = 0; k < edges.size(); ++k)
            if (llvm::is_contained(edges[k].successors, i))
                masks[k] = masks[k] ? w.b.CreateOr(masks[k], lanes) : lanes;
    }
    return masks;
}

void join_values(WarpEmitter &w, const warp::Edge &edge, llvm::Value *edge_mask) {
    std::vector<std::pair<const warp::Join *, Lanes>> copies; // all are read before any is written
    for (const warp::Join &join : edge.joins)
        if (join.write != warp::Join::Write::Keep)
            copies.emplace_back(&join, w.lanes(join.value));
    for (const auto &[join, incoming] : copies) {
        const Lanes value = at_phi(w, join->phi, incoming);
        if (join->write == warp::Join::Write::Blend)
            w.blend(join->phi, value, edge_mask);
        else
            w.store(join->phi, value);
    }
}

} // namespace softcuda::codegen
