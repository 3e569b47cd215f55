// answer.h -- values of which there are two ways to compute, and questions asked in some cases.
#pragma once

#include "codegen/lane_access.h"

namespace softcuda::codegen {

/// Emits `question` in the block `asked`, if the last branch leads there instead of to `after`. In
/// `after`: the answer, or false if the question was skipped.
template <typename Question>
llvm::Value *answer_from(WarpEmitter &w, llvm::BasicBlock *asked, llvm::BasicBlock *after,
                         Question question) {
    llvm::BasicBlock *before = w.b.GetInsertBlock();
    w.b.SetInsertPoint(asked);
    llvm::Value *answer = question();
    llvm::BasicBlock *asked_end = w.b.GetInsertBlock();
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
    llvm::PHINode *joined = w.b.CreatePHI(w.b.getInt1Ty(), 2);
    joined->addIncoming(w.b.getFalse(), before);
    joined->addIncoming(answer, asked_end);
    return joined;
}

enum class Likely : std::uint8_t { No, Unknown };

/// The values of the two ways to the present block.
[[nodiscard]] inline Values join(WarpEmitter &w, const Values &a, llvm::BasicBlock *a_end,
                                 const Values &z, llvm::BasicBlock *z_end) {
    Values joined;
    for (std::size_t k = 0; k < a.size(); ++k) {
        llvm::PHINode *phi = w.b.CreatePHI(a[k]->getType(), 2);
        phi->addIncoming(a[k], a_end);
        phi->addIncoming(z[k], z_end);
        joined.push_back(phi);
    }
    return joined;
}

/// Emits `then` and `otherwise` as the two sides of a branch and joins their values.
template <typename Then, typename Otherwise>
Values either(WarpEmitter &w, llvm::Value *condition, Then then, Otherwise otherwise,
              Likely likely = Likely::Unknown) {
    llvm::BasicBlock *yes = w.new_block("then"), *no = w.new_block("otherwise");
    llvm::BasicBlock *after = w.new_block("accessed");
    if (likely == Likely::No)
        w.branch_rarely(condition, yes, no);
    else
        w.b.CreateCondBr(condition, yes, no);
    w.b.SetInsertPoint(yes);
    Values a = then();
    llvm::BasicBlock *yes_end = w.b.GetInsertBlock();
    w.b.CreateBr(after);
    w.b.SetInsertPoint(no);
    Values z = otherwise();
    llvm::BasicBlock *no_end = w.b.GetInsertBlock();
    w.b.CreateBr(after);
    w.b.SetInsertPoint(after);
    return join(w, a, yes_end, z, no_end);
}

} // namespace softcuda::codegen
