// optimize.cpp -- runs LLVM passes over vectorised kernels, and emits objects.
//
// The input is IR from codegen/: whole warps in <32 x T> values, explicit masks, every mutable
// value in an alloca. The passes are those that a scalar compiler runs on scalar code: registers
// instead of allocas, common subexpressions (mostly addresses and masks), loop-invariant code
// motion, removal of dead stores and branches. Compile time matters, so each pass runs only as
// often as it pays off; LLVM's default pipelines run three times as many passes.
// compiler/pipeline.cpp defines their order.
#include "jit/optimize.h"

#include "jit/find_extremes.h"
#include "jit/flow_kept.h"
#include "jit/interleave_warps.h"
#include "jit/llvm.h"
#include "jit/promote_slots.h"
#include "jit/scalarize_lanes.h"
#include "jit/sink_cold.h"
#include "jit/split_blocks.h"
#include "jit/target.h"
#include "jit/widen_half_compares.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>
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
#include <llvm/Transforms/Scalar/Sink.h>

#include <algorithm>
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

void require_valid(const llvm::Module &module, const char *stage) {
    std::string report;
    llvm::raw_string_ostream out(report);
    if (llvm::verifyModule(module, &out))
        throw std::logic_error(std::string("invalid LLVM IR ") + stage + ": " + report);
}

} // namespace

class PassList {
  public:
    explicit PassList(const Target &t) : target(t) {}
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
    loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
    list.passes.addPass(
        llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
}
void add_gvn(PassList &list) { list.passes.addPass(llvm::GVNPass()); }
void add_dead_stores(PassList &list) { list.passes.addPass(llvm::DSEPass()); }
void add_sink(PassList &list) { list.passes.addPass(llvm::SinkingPass()); }
void add_dead_code(PassList &list) { list.passes.addPass(llvm::ADCEPass()); }
void add_promote_slots(PassList &list) { list.passes.addPass(PromoteSlotsPass()); }
void add_scalarize_lanes(PassList &list) { list.passes.addPass(ScalarizeLanesPass()); }
void add_sink_cold(PassList &list) { list.passes.addPass(SinkColdPass()); }
void add_find_extremes(PassList &list) { list.passes.addPass(FindExtremesPass()); }
void add_interleave_warps(PassList &list) { list.passes.addPass(InterleaveWarpsPass(list.target)); }
void add_keep_indices(PassList &list) { list.passes.addPass(KeepIndicesPass()); }
void add_widen_half_compares(PassList &list) { list.passes.addPass(WidenHalfComparesPass()); }

void optimize(llvm::Module &module, const Target &target, std::span<const LlvmPass> passes,
              const AfterPass &after) {
    require_valid(module, "from code generation");
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = false;
    tuning.SLPVectorization = false;
    llvm::PassBuilder builder(&target.machine(), tuning);

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

namespace {

/// With so many basic blocks, constants stay where they are used. The loop over the warps contains
/// all basic blocks, and MachineLICM moves every constant in front of it: as many values as
/// constants are then live everywhere, and register allocation takes quadratic time.
constexpr std::size_t kManyBasicBlocks = 1000;

std::size_t count_basic_blocks(const llvm::Module &module) {
    std::size_t count = 0;
    for (const llvm::Function &function : module)
        count += function.size();
    return count;
}

// As TargetMachine::addPassesToEmitMC(), without one analysis: it looks for the locations of
// variables in all machine code with lines, though there are no variables, and takes 3 per cent of
// the time.
void add_machine_passes(llvm::legacy::PassManager &passes, const Target &target,
                        const llvm::Module &module, llvm::raw_pwrite_stream &out) {
    auto &machine = static_cast<llvm::LLVMTargetMachine &>(target.machine());
    auto *info = new llvm::MachineModuleInfoWrapperPass(&machine);
    llvm::TargetPassConfig *config = machine.createPassConfig(passes);
    config->setDisableVerify(true);
    passes.add(config);
    passes.add(info);
    if (!target.is_for_debugging())
        config->disablePass(&llvm::LiveDebugValuesID);
    if (count_basic_blocks(module) > kManyBasicBlocks)
        config->disablePass(&llvm::EarlyMachineLICMID);
    // Processors that reorder instructions gain nothing from a second schedule.
    config->disablePass(&llvm::PostRASchedulerID);
    if (config->addISelPasses())
        throw std::logic_error("the target cannot select instructions");
    config->addMachinePasses();
    config->setInitialized();
    if (machine.addAsmPrinter(passes, out, nullptr, llvm::CodeGenFileType::ObjectFile,
                              info->getMMI().getContext()))
        throw std::logic_error("the target cannot emit object files");
    passes.add(llvm::createFreeMachineFunctionPass());
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
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream out(object);
    llvm::legacy::PassManager passes;
    const bool too_large = is_too_large(module);
    if (too_large)
        split_blocks(module);
    add_machine_passes(passes, too_large ? target.without_optimisation() : target, module, out);
    passes.run(module);
    return {object.begin(), object.end()};
}

} // namespace softcuda::jit
