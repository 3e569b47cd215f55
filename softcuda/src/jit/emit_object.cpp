// emit_object.cpp -- machine code of optimised LLVM IR.
#include "jit/code_generator.h"
#include "jit/optimize.h"
#include "jit/split_blocks.h"
#include "jit/target.h"

#include <algorithm>

namespace softcuda::jit {

namespace {

/// With so many basic blocks, constants stay where they are used. The loop over the warps contains
/// all basic blocks, and MachineLICM moves every constant in front of it: as many values as
/// constants are then live everywhere, and register allocation takes quadratic time.
constexpr std::size_t kManyBasicBlocks = 1000;

bool has_many_basic_blocks(const llvm::Module &module) {
    std::size_t count = 0;
    for (const llvm::Function &function : module)
        count += function.size();
    return count > kManyBasicBlocks;
}

std::vector<char> run_machine_passes(llvm::Module &module, const Target &target) {
    const MoveConstants constants =
        has_many_basic_blocks(module) ? MoveConstants::No : MoveConstants::Yes;
    return CodeGeneratorLease(target)->passes(target, constants).run(module);
}

/// In LLVM instructions of one function. With more, liveness and the optimising register allocator
/// take minutes, because their time grows faster than linearly.
constexpr std::size_t kMostOptimised = 100'000;

bool is_too_large(const llvm::Module &module) {
    return std::ranges::any_of(module, [](const llvm::Function &function) {
        return function.getInstructionCount() > kMostOptimised;
    });
}

} // namespace

std::vector<char> emit_object(llvm::Module &module, const Target &target) {
    if (!is_too_large(module))
        return run_machine_passes(module, target);
    split_blocks(module);
    return run_machine_passes(module, target.without_optimisation());
}

} // namespace softcuda::jit
