// lay_out_locals.cpp -- drops unused local variables, and gives the others their offsets.
#include "ir/clean_up.h"

#include <vector>

namespace softcuda::ir {

void lay_out_locals(Function &function) {
    std::vector<bool> used(function.variables.size());
    for (std::size_t i = 0; i < used.size(); i++)
        used[i] = function.variables[i].space == Space::Shared;
    std::vector<Instruction *> addresses;
    for (Block *block : function.blocks) {
        for (Instruction *instruction : block->instructions) {
            Space space = instruction->attributes.space;
            bool in_frame = space == Space::Local || space == Space::Shared;
            if (!instruction->is(Opcode::SymbolAddress) || !in_frame)
                continue;
            addresses.push_back(instruction);
            used[instruction->attributes.symbol] = true;
        }
    }
    std::vector<std::uint32_t> place(used.size());
    std::vector<LocalVariable> kept;
    function.local_bytes = 0;
    for (std::size_t i = 0; i < used.size(); i++) {
        if (!used[i])
            continue;
        place[i] = static_cast<std::uint32_t>(kept.size());
        LocalVariable &variable = kept.emplace_back(std::move(function.variables[i]));
        if (variable.space != Space::Local)
            continue;
        std::uint64_t align = variable.align;
        variable.offset = (function.local_bytes + align - 1) / align * align;
        function.local_bytes = static_cast<std::uint32_t>(variable.offset + variable.size);
    }
    function.variables = std::move(kept);
    for (Instruction *address : addresses)
        address->attributes.symbol = place[address->attributes.symbol];
}

} // namespace softcuda::ir
