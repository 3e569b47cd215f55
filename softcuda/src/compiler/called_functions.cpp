// called_functions.cpp -- follows the calls from a kernel on.
#include "compiler/called_functions.h"

#include "support/device_call.h"

#include <vector>

namespace softcuda::compiler {
namespace {

void add_launches(const ir::Function &function, Launches &found) {
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (!i->is(ir::Opcode::Malloc) || i->attributes.immediate == 0)
                continue; // an allocation: see ir/lower_device_call.cpp
            const auto call = static_cast<DeviceCall>(i->attributes.immediate - 1);
            found.kernels |= call == DeviceCall::LaunchDevice || call == DeviceCall::LaunchDeviceV2;
            found.graphs |= call == DeviceCall::GraphLaunch;
        }
}

} // namespace

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

Launches launches_of(const ir::Module &module, const ir::Function &kernel) {
    Launches found;
    add_launches(kernel, found);
    for (const std::uint32_t called : called_functions(module, kernel))
        add_launches(*module.functions[called], found);
    return found;
}

} // namespace softcuda::compiler
