// surface_rows.cpp -- decides from the shapes of the coordinates alone.
#include "warp/surface_rows.h"

#include "rt/watch_abi.h"
#include "support/texture_operation.h"

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using analysis::Shape;

constexpr unsigned kMostGroups = 4; ///< rows of at least eight lanes

/// Whether each lane's value is that of its group's first lane plus `step` for each lane between.
bool advances(const Shape &shape, unsigned groups, std::int64_t step) {
    if (shape.groups > groups)
        return false;
    const unsigned size = kLanes / groups;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shape.offset(lane) - shape.offset(lane / size * size) !=
            step * static_cast<std::int64_t>(lane % size))
            return false;
    return true;
}

bool is_plain(const TextureOperation &operation) {
    using Kind = TextureOperation::Kind;
    return (operation.kind == Kind::Load || operation.kind == Kind::Store) &&
           !operation.formatted && !operation.is_cube();
}

} // namespace

unsigned surface_groups(const KernelPlan &plan, const ir::Instruction &i) {
    if (!i.is(ir::Opcode::TextureRead) && !i.is(ir::Opcode::SurfaceWrite))
        return 0;
    const auto operation = TextureOperation::from_bits(i.attributes.immediate);
    if (!is_plain(operation) || plan.wants_short_code ||
        (plan.request.watch & rt::kWatchOrder) != 0)
        return 0;
    auto shape = [&](unsigned operand) {
        const ir::Value *value = i.operand(operand);
        return value->constant ? Shape{.groups = 1} : plan.divergence.of(value);
    };
    if (!shape(0).uniform())
        return 0;
    const unsigned x = operation.is_layered() ? 2 : 1;
    const unsigned width = operation.bytes * operation.elements;
    for (unsigned groups = 1; groups <= kMostGroups; groups *= 2) {
        bool fits = true;
        for (unsigned n = 1; n <= operation.coordinates(); ++n)
            fits = fits && !shape(n).checked && advances(shape(n), groups, n == x ? width : 0);
        if (fits)
            return groups;
    }
    return 0;
}

} // namespace softcuda::warp
