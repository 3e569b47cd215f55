// branch_weights.cpp -- equal weights for branches within a loop.
#include "jit/branch_weights.h"

#include "jit/large_code.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

namespace softcuda::jit {

namespace {

bool stays_in_loop(const llvm::BasicBlock &block, const llvm::LoopInfo &loops) {
    const llvm::Loop *loop = loops.getLoopFor(&block);
    return loop && llvm::all_of(llvm::successors(&block), [&](const auto *next) {
               return loops.getLoopFor(next) == loop && next != loop->getHeader();
           });
}

void weigh_branches_of(llvm::Function &function) {
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    llvm::MDNode *equal = llvm::MDBuilder(function.getContext()).createBranchWeights(1, 1);
    for (llvm::BasicBlock &block : function) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
        if (branch && branch->isConditional() && !branch->hasMetadata(llvm::LLVMContext::MD_prof) &&
            stays_in_loop(block, loops))
            branch->setMetadata(llvm::LLVMContext::MD_prof, equal);
    }
}

} // namespace

void weigh_branches(llvm::Module &module) {
    for (llvm::Function &function : module)
        if (has_many_basic_blocks(function))
            weigh_branches_of(function);
}

} // namespace softcuda::jit
