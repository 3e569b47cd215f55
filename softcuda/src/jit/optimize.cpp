// optimize.cpp -- runs LLVM passes over vectorised kernels.
//
// The input is IR from codegen/: whole warps in <32 x T> values, explicit masks, every mutable
// value in an alloca. The passes are those that a scalar compiler runs on scalar code: registers
// instead of allocas, common subexpressions (mostly addresses and masks), loop-invariant code
// motion, removal of dead stores and branches. Compile time matters, so each pass runs only as
// often as it pays off; LLVM's default pipelines run three times as many passes.
// compiler/pipeline.cpp defines their order.
#include "jit/optimize.h"

#include "jit/code_generator.h"
#include "jit/find_min_max.h"
#include "jit/flow_kept.h"
#include "jit/keep_signalling_nans.h"
#include "jit/large_code.h"
#include "jit/llvm.h"
#include "jit/promote_slots.h"
#include "jit/sink_cold.h"
#include "jit/target.h"
#include "jit/widen_half_compares.h"
#include "jit/widen_masks.h"

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <stdexcept>

namespace softcuda::jit {

namespace {

/// Copies the computation of the indices of a gather or scatter next to it. Instruction selection
/// processes one basic block at a time, and uses 32-bit indices only if it sees the extension.
///
///     base[sext(indices)]             copies the extension
///     base[constants][offset]         after loop-invariant code motion:
///     base[offset][constants]
class KeepIndicesPass : public llvm::PassInfoMixin<KeepIndicesPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
        bool changed = false;
        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &i : block)
                if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
                    if (call->getIntrinsicID() == llvm::Intrinsic::masked_gather)
                        changed |= bring(*call, 0);
                    else if (call->getIntrinsicID() == llvm::Intrinsic::masked_scatter)
                        changed |= bring(*call, 1);
                }
        return flow_kept(changed);
    }

  private:
    static bool bring(llvm::IntrinsicInst &access, unsigned operand) {
        auto *places = llvm::dyn_cast<llvm::GetElementPtrInst>(access.getArgOperand(operand));
        if (!places || places->getNumIndices() != 1)
            return false;
        if (auto *wide = llvm::dyn_cast<llvm::SExtInst>(places->getOperand(1)))
            return bring_indices(access, operand, *places, *wide);
        return bring_constants(access, operand, *places);
    }

    static bool bring_indices(llvm::IntrinsicInst &access, unsigned operand,
                              const llvm::GetElementPtrInst &places, const llvm::SExtInst &wide) {
        if (wide.getParent() == access.getParent() && places.getParent() == access.getParent())
            return false;
        llvm::Instruction *near_wide = wide.clone(), *near_places = places.clone();
        near_wide->insertBefore(&access);
        near_places->insertBefore(&access);
        near_places->setOperand(1, near_wide);
        access.setArgOperand(operand, near_places);
        return true;
    }

    static bool bring_constants(llvm::IntrinsicInst &access, unsigned operand,
                                llvm::GetElementPtrInst &places) {
        llvm::SmallVector<llvm::Value *, 4> offsets; // equal in all lanes
        llvm::GetElementPtrInst *at = &places;
        while (at && at->getNumIndices() == 1 && at->getSourceElementType()->isIntegerTy(8) &&
               at->getPointerOperandType()->isVectorTy() &&
               !at->getOperand(1)->getType()->isVectorTy()) {
            offsets.push_back(at->getOperand(1));
            at = llvm::dyn_cast<llvm::GetElementPtrInst>(at->getPointerOperand());
        }
        if (!at || at->getNumIndices() != 1 || at->getPointerOperandType()->isVectorTy() ||
            !llvm::isa<llvm::Constant>(at->getOperand(1)) ||
            (offsets.empty() && at->getParent() == access.getParent()))
            return false;
        llvm::IRBuilder<> b(&access);
        llvm::Value *start = at->getPointerOperand();
        for (llvm::Value *offset : llvm::reverse(offsets))
            start = b.CreateGEP(b.getInt8Ty(), start, offset);
        access.setArgOperand(operand,
                             b.CreateGEP(at->getSourceElementType(), start, at->getOperand(1)));
        return true;
    }
};

/// Moves invariants out of loops, except out of those with many basic blocks, such as the loop over
/// the warps of a large kernel: they would be live in all of them.
class ShortLoopInvariantsPass : public llvm::PassInfoMixin<ShortLoopInvariantsPass> {
  public:
    llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &analyses,
                                llvm::LoopStandardAnalysisResults &results,
                                llvm::LPMUpdater &updater) {
        if (has_many_basic_blocks(loop))
            return llvm::PreservedAnalyses::all();
        return pass_.run(loop, analyses, results, updater);
    }

  private:
    llvm::LICMPass pass_{llvm::LICMOptions()};
};

/// Passes a function to the AfterPass callback. A required pass, because LLVM may skip others.
class ShowPass : public llvm::PassInfoMixin<ShowPass> {
  public:
    ShowPass(std::string_view name, const AfterPass &after) : name_(name), after_(after) {}
    static bool isRequired() { return true; }
    llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &) {
        after_(name_, [&] {
            std::string text;
            llvm::raw_string_ostream stream(text);
            function.print(stream);
            return text;
        });
        return llvm::PreservedAnalyses::all();
    }

  private:
    std::string_view name_;
    const AfterPass &after_;
};

} // namespace

void require_valid(const llvm::Module &module, const char *stage) {
    std::string report;
    llvm::raw_string_ostream out(report);
    if (llvm::verifyModule(module, &out))
        throw std::logic_error(std::string("invalid LLVM IR ") + stage + ": " + report);
}

class PassList {
  public:
    explicit PassList(const Target &processor) : target(processor) {}
    llvm::FunctionPassManager passes;
    const Target &target;
};

void add_sroa(PassList &list) { list.passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG)); }
void add_early_cse(PassList &list) {
    list.passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/false));
}
void add_inst_combine(PassList &list) { list.passes.addPass(llvm::InstCombinePass()); }
void add_simplify_cfg(PassList &list) { list.passes.addPass(llvm::SimplifyCFGPass()); }
void add_jump_threading(PassList &list) { list.passes.addPass(llvm::JumpThreadingPass()); }
void add_loop_invariants(PassList &list) {
    llvm::LoopPassManager loops;
    loops.addPass(llvm::LoopRotatePass());
    loops.addPass(ShortLoopInvariantsPass());
    list.passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
}
void add_gvn(PassList &list) { list.passes.addPass(llvm::GVNPass()); }
void add_dead_stores(PassList &list) { list.passes.addPass(llvm::DSEPass()); }
void add_dead_code(PassList &list) { list.passes.addPass(llvm::ADCEPass()); }
void add_promote_slots(PassList &list) { list.passes.addPass(PromoteSlotsPass()); }
void add_sink_cold(PassList &list) { list.passes.addPass(SinkColdPass()); }
void add_find_min_max(PassList &list) { list.passes.addPass(FindMinMaxPass()); }
void add_keep_indices(PassList &list) { list.passes.addPass(KeepIndicesPass()); }
void add_widen_half_compares(PassList &list) { list.passes.addPass(WidenHalfComparesPass()); }
void add_keep_signalling_nans(PassList &list) {
    if (list.target.facts().quiets_min_max)
        list.passes.addPass(KeepSignallingNansPass());
}
void add_widen_masks(PassList &list) {
    if (list.target.facts().masks == target::Masks::None)
        list.passes.addPass(WidenMasksPass());
}

void optimize(llvm::Module &module, const Target &target, std::span<const LlvmPass> passes,
              const AfterPass &after) {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.SLPVectorization = false;
    const CodeGeneratorLease generator(target);
    llvm::PassBuilder builder(&generator->machine(), tuning);

    llvm::LoopAnalysisManager loop_analyses;
    llvm::FunctionAnalysisManager function_analyses;
    llvm::CGSCCAnalysisManager graph_analyses;
    llvm::ModuleAnalysisManager module_analyses;
    builder.registerModuleAnalyses(module_analyses);
    builder.registerCGSCCAnalyses(graph_analyses);
    builder.registerFunctionAnalyses(function_analyses);
    builder.registerLoopAnalyses(loop_analyses);
    builder.crossRegisterProxies(loop_analyses, function_analyses, graph_analyses, module_analyses);

    PassList list(target);
    for (const LlvmPass &pass : passes) {
        pass.add(list);
        if (after)
            list.passes.addPass(ShowPass(pass.name, after));
    }
    llvm::ModulePassManager all;
    all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(list.passes)));
    all.run(module, module_analyses);
}

} // namespace softcuda::jit
