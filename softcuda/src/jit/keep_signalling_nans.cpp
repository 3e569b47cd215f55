// keep_signalling_nans.cpp -- replaces select <n x float> by select <n x i32>.
#include "jit/keep_signalling_nans.h"

#include "jit/flow_kept.h"

namespace softcuda::jit {

namespace {

/// A choice by a comparison of floats between a float and a constant.
bool may_become_min_max(const llvm::SelectInst &select) {
    return select.getType()->isFPOrFPVectorTy() &&
           llvm::isa<llvm::FCmpInst>(select.getCondition()) &&
           llvm::isa<llvm::Constant>(select.getTrueValue()) !=
               llvm::isa<llvm::Constant>(select.getFalseValue());
}

} // namespace

llvm::PreservedAnalyses KeepSignallingNansPass::run(llvm::Function &function,
                                                    llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &i : llvm::make_early_inc_range(block)) {
            auto *select = llvm::dyn_cast<llvm::SelectInst>(&i);
            if (!select || !may_become_min_max(*select))
                continue;
            llvm::IRBuilder<> b(select);
            llvm::Type *type = select->getType();
            llvm::Type *integer = type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()));
            llvm::Value *chosen = b.CreateSelect(select->getCondition(),
                                                 b.CreateBitCast(select->getTrueValue(), integer),
                                                 b.CreateBitCast(select->getFalseValue(), integer));
            select->replaceAllUsesWith(b.CreateBitCast(chosen, type));
            select->eraseFromParent();
            changed = true;
        }
    return flow_kept(changed);
}

} // namespace softcuda::jit
