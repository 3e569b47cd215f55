// specialize.cpp -- constants out of ranges.
#include "transform/specialize.h"

#include "ir/clean_up.h"
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

void specialize(ir::Function &function, const analysis::LaunchShape &launch) {
    constexpr int kRounds =
        3; // code that goes away may leave narrower ranges; rarely more than once
    for (int round = 0; round < kRounds; ++round) {
        function.renumber_values();
        const ir::Replacements constants = find_constants(function, launch);
        if (constants.empty())
            break;
        constants.apply(function);
        ir::fold(function);
        ir::simplify_flow(function);
        ir::eliminate_dead_code(function);
    }
    ir::canonicalize_loops(function);
    function.renumber_values();
}

} // namespace softcuda::transform
