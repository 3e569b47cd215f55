// sink_cold.cpp -- processes users before operands, so that operands that only moved instructions
// use move too.
#include "jit/sink_cold.h"

#include "jit/flow_kept.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/ProfDataUtils.h>

namespace softcuda::jit {

namespace {

using Blocks = llvm::SmallPtrSet<llvm::BasicBlock *, 16>;

/// A branch is rare if the other branch is taken this many times as often.
constexpr std::uint32_t kRare = 1000;

Blocks find_cold(llvm::Function &function) {
    Blocks cold;
    for (llvm::BasicBlock &block : function) {
        auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
        std::uint64_t weights[2];
        if (!branch || !branch->isConditional() ||
            !llvm::extractBranchWeights(*branch, weights[0], weights[1]))
            continue;
        for (unsigned way = 0; way < 2; ++way)
            if (weights[1 - way] / kRare > weights[way] &&
                branch->getSuccessor(way)->getSinglePredecessor())
                cold.insert(branch->getSuccessor(way));
    }
    for (llvm::BasicBlock *block : llvm::ReversePostOrderTraversal<llvm::Function *>(&function))
        if (!llvm::pred_empty(block) &&
            llvm::all_of(llvm::predecessors(block),
                         [&](llvm::BasicBlock *from) { return cold.contains(from); }))
            cold.insert(block);
    return cold;
}

bool may_move(const llvm::Instruction &i) {
    return !i.isTerminator() && !i.mayReadOrWriteMemory() && !i.mayHaveSideEffects() &&
           !i.getType()->isVoidTy() && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(i);
}

/// The cold blocks that use it, and at most one other block if it is behind a branch and in the
/// same loop; empty if more blocks use it.
Blocks rare_users(const llvm::Instruction &i, const Blocks &cold, const llvm::LoopInfo &loops) {
    Blocks users;
    const llvm::BasicBlock *usual = nullptr;
    for (const llvm::User *user : i.users()) {
        const auto *at = llvm::cast<llvm::Instruction>(user);
        auto *block = const_cast<llvm::BasicBlock *>(at->getParent());
        if (llvm::isa<llvm::PHINode>(at))
            return {};
        if (!cold.contains(block)) {
            const bool first = usual == nullptr && block != i.getParent() &&
                               block->getSinglePredecessor() &&
                               loops.getLoopFor(block) == loops.getLoopFor(i.getParent());
            if (!first && block != usual)
                return {};
            usual = block;
        }
        users.insert(block);
    }
    return users;
}

void move(llvm::Instruction &i, const Blocks &to) {
    for (llvm::BasicBlock *block : to) {
        llvm::Instruction *copy = i.clone();
        copy->insertBefore(&*block->getFirstInsertionPt());
        i.replaceUsesWithIf(copy, [&](const llvm::Use &use) {
            return llvm::cast<llvm::Instruction>(use.getUser())->getParent() == block;
        });
    }
    i.eraseFromParent();
}

} // namespace

llvm::PreservedAnalyses SinkColdPass::run(llvm::Function &function,
                                          llvm::FunctionAnalysisManager &analyses) {
    const Blocks cold = find_cold(function);
    const llvm::LoopInfo &loops = analyses.getResult<llvm::LoopAnalysis>(function);
    bool changed = false;
    for (llvm::BasicBlock *block : llvm::post_order(&function)) {
        if (cold.contains(block))
            continue;
        for (llvm::Instruction &i : llvm::make_early_inc_range(llvm::reverse(*block))) {
            if (!may_move(i))
                continue;
            if (const Blocks users = rare_users(i, cold, loops); !users.empty()) {
                move(i, users);
                changed = true;
            }
        }
    }
    return flow_kept(changed);
}

} // namespace softcuda::jit
