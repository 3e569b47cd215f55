// optimize.h -- compiles vectorised LLVM IR to an object file.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace softcuda::jit {

class PassList; // an llvm::FunctionPassManager (optimize.cpp)
class Target;

/// A pass over LLVM IR with its name in the compiler's list of passes.
struct LlvmPass {
    std::string_view name;
    void (*add)(PassList &list);
};

/// Called with the name of a pass and a function that returns the text of the function that it has
/// just changed.
using AfterPass =
    std::function<void(std::string_view name, const std::function<std::string()> &text)>;

// Passes of LLVM.
void add_sroa(PassList &list);
void add_early_cse(PassList &list);
void add_inst_combine(PassList &list);
void add_simplify_cfg(PassList &list);
void add_jump_threading(PassList &list);
void add_loop_invariants(PassList &list); ///< loops are rotated first
void add_gvn(PassList &list);
void add_dead_stores(PassList &list);
void add_dead_code(PassList &list);
// Our passes.
void add_sink_cold(PassList &list);
void add_find_min_max(PassList &list);
void add_keep_indices(PassList &list);
void add_widen_half_compares(PassList &list);
void add_keep_signalling_nans(PassList &list);
void add_widen_masks(PassList &list);
void add_promote_slots(PassList &list);

/// Throws std::logic_error, whose text names `stage`, if LLVM's verifier finds an error.
void require_valid(const llvm::Module &module, const char *stage);

/// Runs the passes in order over each function, and `after` after each pass.
void optimize(llvm::Module &module, const Target &target, std::span<const LlvmPass> passes,
              const AfterPass &after = {});

/// Machine code of an optimised module, as a relocatable ELF object. Of a function with more than
/// 100,000 instructions, the code is not optimised for the processor, so that compilation ends
/// soon.
std::vector<char> emit_object(llvm::Module &module, const Target &target);

} // namespace softcuda::jit
