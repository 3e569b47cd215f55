// liveness.cpp -- backward data flow over blocks.

#include "analysis/liveness.h"

#include "analysis/cfg.h"

namespace softcuda::analysis {

std::vector<std::vector<bool>> find_live_in(const ir::Function &function,
                                            const ExtraLiveness &extra) {
    std::size_t blocks = function.blocks.size();
    std::size_t ids = function.value_count() + extra.count;
    using Set = std::vector<bool>;
    std::vector<Set> used(blocks, Set(ids)), defined(blocks, Set(ids)), phi_out(blocks, Set(ids));
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            for (std::size_t k = 0; k < i->operands.size(); ++k) {
                std::uint32_t id = i->operands[k]->id;
                if (i->operands[k]->constant)
                    continue;
                if (i->is(ir::Opcode::Phi))
                    phi_out[i->blocks[k]->id][id] = true;
                else if (!defined[block->id][id])
                    used[block->id][id] = true;
            }
            for (const ir::Value *result : i->results)
                defined[block->id][result->id] = true;
        }
    for (const ExtraLiveness::At &at : extra.definitions)
        defined[at.block->id][at.id] = true;
    for (const ExtraLiveness::At &at : extra.uses)
        if (!defined[at.block->id][at.id])
            used[at.block->id][at.id] = true;

    std::vector<Set> live_in(blocks, Set(ids));
    std::vector<ir::Block *> order = ir::reverse_postorder(function);
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            std::uint32_t b = (*it)->id;
            Set live = phi_out[b];
            for (const ir::Block *successor : (*it)->successors())
                for (std::size_t id = 0; id < ids; ++id)
                    if (live_in[successor->id][id])
                        live[id] = true;
            for (std::size_t id = 0; id < ids; ++id)
                live[id] = used[b][id] || (live[id] && !defined[b][id]);
            if (live != live_in[b]) {
                live_in[b] = std::move(live);
                changed = true;
            }
        }
    }
    return live_in;
}

} // namespace softcuda::analysis
