// llvm_passes.cpp -- the list of the passes on LLVM IR.
#include "compiler/llvm_passes.h"

#include "jit/large_code.h"

#include <algorithm>

namespace softcuda::compiler {

namespace {

using enum Need;

// clang-format off
constexpr LlvmStep kInstCombine{
    "inst-combine", Optional, "LLVM", "Replaces instructions by simpler ones.", jit::add_inst_combine};
constexpr LlvmStep kSimplifyCfg{
    "simplify-cfg", Optional, "LLVM", "Joins and drops LLVM basic blocks.", jit::add_simplify_cfg};

constexpr LlvmStep kLlvm[] = {
    {"promote-slots", Optional, "jit/promote_slots.cpp",
     "Turns stack slots that are loaded and stored as a whole into registers.", jit::add_promote_slots},
    {"sroa", Optional, "LLVM", "Turns other allocas into registers.", jit::add_sroa},
    {"early-cse", Optional, "LLVM", "Drops common subexpressions, addresses and masks above all.", jit::add_early_cse},
    kInstCombine,
    kSimplifyCfg,
    {"jump-threading", Optional, "LLVM", "Jumps past branches whose outcome the incoming path decides.", jit::add_jump_threading},
    {"loop-invariants", Optional, "LLVM", "Rotates loops and moves invariant code out of them.", jit::add_loop_invariants},
    {"gvn", Optional, "LLVM", "Drops redundant computations and loads.", jit::add_gvn},
    {"dead-stores", Optional, "LLVM", "Drops stores that are overwritten.", jit::add_dead_stores},
    {"sink-cold", Optional, "jit/sink_cold.cpp",
     "Moves computations that only rarely executed basic blocks use into those blocks.", jit::add_sink_cold},
    kSimplifyCfg,
    {"find-min-max", Optional, "jit/find_min_max.cpp",
     "Turns the exchanges of a sorting network into minima and maxima.", jit::add_find_min_max},
    {"keep-indices", Optional, "jit/optimize.cpp",
     "Copies the indices of a gather or scatter next to it, where instruction selection sees that they are narrow.", jit::add_keep_indices},
    {"widen-half-compares", Required, "jit/widen_half_compares.cpp",
     "Compares halves as floats: LLVM may swap the operands of a comparison of halves.", jit::add_widen_half_compares},
    {"keep-signalling-nans", Required, "jit/keep_signalling_nans.cpp",
     "Compares with constants without the processor's minimum, where it changes signalling NaNs.", jit::add_keep_signalling_nans},
    {"widen-masks", Optional, "jit/widen_masks.cpp",
     "Passes masks between basic blocks as bytes, on processors without masks.", jit::add_widen_masks},
    {"adce", Optional, "LLVM", "Drops dead code.", jit::add_dead_code},
};
// clang-format on

/// For functions of more than jit::kMostForAllPasses instructions. The time of other passes grows
/// faster than the function.
constexpr std::string_view kForHuge[] = {"promote-slots", "sroa", "early-cse", "simplify-cfg",
                                         "adce"};

/// Left out for functions of more than jit::kMostForConditions basic blocks.
constexpr std::string_view kOfConditions[] = {"inst-combine", "loop-invariants"};

template <std::size_t N> bool names(const std::string_view (&list)[N], std::string_view pass) {
    return std::ranges::find(list, pass) != std::end(list);
}

} // namespace

std::span<const LlvmStep> llvm_steps() { return kLlvm; }

std::vector<jit::LlvmPass> passes_for(ir::Purpose purpose, const llvm::Module &module,
                                      const PassOptions &options) {
    const bool huge = jit::has_more_instructions(module, jit::kMostForAllPasses);
    const bool many_blocks = jit::has_more_basic_blocks(module, jit::kMostForConditions);
    std::vector<jit::LlvmPass> chosen;
    for (const LlvmStep &pass : kLlvm) {
        const bool helps = purpose == ir::Purpose::Speed && (!huge || names(kForHuge, pass.name)) &&
                           (!many_blocks || !names(kOfConditions, pass.name));
        if (!options.skips(pass.name) && (helps || pass.need == Required))
            chosen.push_back({pass.name, pass.add});
    }
    return chosen;
}

} // namespace softcuda::compiler
