// specialize.cpp -- replaces values with a single possible value by constants.
#include "transform/specialize.h"

#include "ir/replacements.h"

namespace softcuda::transform {

namespace {

using ir::Opcode;

bool may_be_replaced(const ir::Instruction &i) {
    return i.results.size() == 1 && !ir::is_float(i.result()->type) &&
           (i.is(Opcode::Phi) || i.is(Opcode::Special) || ir::info(i.opcode).pure);
}

ir::Replacements find_constants(ir::Function &function, const analysis::LaunchShape &launch) {
    const std::vector<analysis::Range> ranges = analysis::find_ranges(function, launch);
    ir::Replacements found;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (!may_be_replaced(*i))
                continue;
            const analysis::Range &range = ranges[i->result()->id];
            if (range.low == range.high)
                found.add(i->result(), function.constant(i->result()->type,
                                                         static_cast<std::uint64_t>(range.low)));
        }
    return found;
}

} // namespace

bool specialize(ir::Function &function, const analysis::LaunchShape &launch) {
    function.renumber_values();
    const ir::Replacements constants = find_constants(function, launch);
    if (!constants.empty())
        constants.apply(function);
    return !constants.empty();
}

} // namespace softcuda::transform
