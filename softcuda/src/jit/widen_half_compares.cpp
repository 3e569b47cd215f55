// widen_half_compares.cpp -- replaces fcmp olt <n x half> by fcmp olt <n x float>.
#include "jit/widen_half_compares.h"

#include "jit/flow_kept.h"

namespace softcuda::jit {

namespace {

bool depends_on_order(const llvm::FCmpInst &compare) {
    return compare.getPredicate() != compare.getSwappedPredicate();
}

} // namespace

llvm::PreservedAnalyses WidenHalfComparesPass::run(llvm::Function &function,
                                                   llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock &block : function)
        for (llvm::Instruction &i : block) {
            auto *compare = llvm::dyn_cast<llvm::FCmpInst>(&i);
            if (!compare || !compare->getOperand(0)->getType()->getScalarType()->isHalfTy() ||
                !depends_on_order(*compare))
                continue;
            llvm::IRBuilder<> b(compare);
            for (llvm::Use &operand : compare->operands()) {
                llvm::Type *narrow = operand->getType();
                operand.set(b.CreateFPExt(operand, narrow->getWithNewType(b.getFloatTy())));
            }
            changed = true;
        }
    return flow_kept(changed);
}

} // namespace softcuda::jit
