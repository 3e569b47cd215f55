// emit_object.cpp -- machine code of optimised LLVM IR.
#include "jit/branch_weights.h"
#include "jit/byte_masks.h"
#include "jit/called_blends.h"
#include "jit/code_generator.h"
#include "jit/constant_table.h"
#include "jit/large_code.h"
#include "jit/long_lived.h"
#include "jit/optimize.h"
#include "jit/split_blocks.h"
#include "jit/split_lanes.h"
#include "jit/target.h"

#include <algorithm>

namespace softcuda::jit {

namespace {

bool is_large(const llvm::Function &function) { return has_many_basic_blocks(function); }

std::vector<char> run_machine_passes(llvm::Module &module, const Target &target) {
    const bool many_constants = tabulate_constants(module);
    for (llvm::Function &function : module)
        split_lanes(function, target);
    combine_masks_in_bytes(module, target);
    call_blends(module, target);
    weigh_branches(module);
    store_long_lived(module);
    const bool large = many_constants || std::ranges::any_of(module, is_large);
    const CodeSize size = large ? CodeSize::Large : CodeSize::Usual;
    return CodeGeneratorLease(target)->passes(target, size).run(module);
}

} // namespace

std::vector<char> emit_object(llvm::Module &module, const Target &target) {
    if (!has_more_instructions(module, kMostOptimised))
        return run_machine_passes(module, target);
    split_blocks(module);
    return run_machine_passes(module, target.without_optimisation());
}

} // namespace softcuda::jit
