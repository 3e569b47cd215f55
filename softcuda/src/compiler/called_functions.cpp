// called_functions.cpp -- follows the calls from a kernel on.
#include "compiler/called_functions.h"

#include <vector>

namespace softcuda::compiler {

std::set<std::uint32_t> called_functions(const ir::Module &module, const ir::Function &kernel) {
    std::set<std::uint32_t> found;
    std::vector<const ir::Function *> work{&kernel};
    while (!work.empty()) {
        const ir::Function *function = work.back();
        work.pop_back();
        for (const ir::Block *block : function->blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::Call) && found.insert(i->attributes.symbol).second)
                    work.push_back(module.functions[i->attributes.symbol].get());
    }
    return found;
}

} // namespace softcuda::compiler
