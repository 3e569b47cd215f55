// called_functions.cpp -- follows the calls from a kernel on.
#include "compiler/called_functions.h"

#include "support/device_call.h"
#include "warp/kernel_plan.h"

#include <algorithm>
#include <map>
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

/// The local memory of a function and of those that it calls.
class CallMemory {
  public:
    explicit CallMemory(const ir::Module &module) : module_(module) {}

    /// Of the functions that `function` calls, without its own.
    std::uint64_t called(const ir::Function &function) {
        std::uint64_t most = 0;
        for (const ir::Block *block : function.blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::Call))
                    most = std::max(most, of(i->attributes.symbol));
        return most;
    }

  private:
    std::uint64_t of(std::uint32_t symbol) {
        const auto [found, is_new] = known_.try_emplace(symbol, 0);
        if (is_new) { // while it is followed, it counts nothing: a recursion
            const ir::Function &function = *module_.functions[symbol];
            const std::uint64_t bytes = warp::local_memory_of(function) + called(function);
            known_[symbol] = bytes;
        }
        return known_[symbol];
    }

    const ir::Module &module_;
    std::map<std::uint32_t, std::uint64_t> known_;
};

} // namespace

void count_call_memory(ir::Module &module) {
    CallMemory memory(module);
    for (const auto &function : module.functions)
        if (function->kernel)
            function->called_bytes = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(memory.called(*function), UINT32_MAX));
}

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
