// widen_masks.cpp -- replaces masks that several basic blocks use.
#include "jit/widen_masks.h"

#include "jit/flow_kept.h"
#include "jit/mask_bytes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>

#include <utility>

namespace softcuda::jit {

namespace {

/// The number of bytes in a register of SSE: a mask with more lanes has no register.
constexpr unsigned kRegister = 16;

bool is_wide_mask(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getElementType()->isIntegerTy(1) &&
           vector->getNumElements() > kRegister;
}

bool is_used_elsewhere(const llvm::Instruction &mask) {
    for (const llvm::User *user : mask.users()) {
        const auto *i = llvm::cast<llvm::Instruction>(user);
        if (i->getParent() != mask.getParent() || llvm::isa<llvm::PHINode>(i))
            return true;
    }
    return false;
}

class Widening {
  public:
    explicit Widening(llvm::Function &function) : function_(function) {}

    bool run() {
        for (llvm::BasicBlock &block : function_)
            for (llvm::Instruction &i : block)
                if (is_wide_mask(i.getType()) &&
                    (llvm::isa<llvm::PHINode>(i) || is_used_elsewhere(i)))
                    wide_.insert({&i, nullptr});
        for (auto &[mask, wide] : wide_)
            wide = make_wide(*mask);
        for (auto &[mask, wide] : wide_)
            if (auto *phi = llvm::dyn_cast<llvm::PHINode>(mask))
                fill(*phi, *llvm::cast<llvm::PHINode>(wide));
        for (auto &[mask, wide] : wide_)
            replace_uses(*mask);
        for (auto &[mask, wide] : wide_)
            if (llvm::isa<llvm::PHINode>(mask)) {
                mask->replaceAllUsesWith(llvm::PoisonValue::get(mask->getType())); // of phis
                mask->eraseFromParent();
            }
        return !wide_.empty();
    }

  private:
    static llvm::Type *wide_type(const llvm::Value &mask) {
        return mask.getType()->getWithNewType(llvm::Type::getInt8Ty(mask.getContext()));
    }

    static llvm::Instruction *make_wide(llvm::Instruction &mask) {
        if (auto *phi = llvm::dyn_cast<llvm::PHINode>(&mask))
            return llvm::PHINode::Create(wide_type(mask), phi->getNumIncomingValues(), "",
                                         mask.getIterator());
        llvm::IRBuilder<> b(mask.getContext());
        b.SetInsertPoint(*mask.getInsertionPointAfterDef());
        return llvm::cast<llvm::Instruction>(b.CreateSExt(&mask, wide_type(mask)));
    }

    llvm::Value *wide_of(llvm::Value &mask, llvm::BasicBlock &from) {
        if (auto *i = llvm::dyn_cast<llvm::Instruction>(&mask))
            return wide_.lookup(i);
        llvm::IRBuilder<> b(from.getTerminator());
        return b.CreateSExt(&mask, wide_type(mask)); // of a constant: a constant
    }

    void fill(llvm::PHINode &phi, llvm::PHINode &wide) {
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
            wide.addIncoming(wide_of(*phi.getIncomingValue(i), *phi.getIncomingBlock(i)),
                             phi.getIncomingBlock(i));
    }

    /// The mask at the beginning of a basic block.
    llvm::Value *narrow_in(llvm::Instruction &mask, llvm::BasicBlock &block) {
        llvm::Value *&narrow = narrow_[{&mask, &block}];
        if (!narrow) {
            llvm::IRBuilder<> b(&block, block.getFirstInsertionPt());
            llvm::Value *wide = wide_.lookup(&mask);
            narrow = mask_of_bytes(b, wide);
        }
        return narrow;
    }

    void replace_uses(llvm::Instruction &mask) {
        for (llvm::Use &use : llvm::make_early_inc_range(mask.uses())) {
            auto *user = llvm::cast<llvm::Instruction>(use.getUser());
            const bool is_own =
                !llvm::isa<llvm::PHINode>(mask) && user->getParent() == mask.getParent();
            if (!is_own && !llvm::isa<llvm::PHINode>(user)) // the uses in phis are of the wide mask
                use.set(narrow_in(mask, *user->getParent()));
        }
    }

    llvm::Function &function_;
    llvm::MapVector<llvm::Instruction *, llvm::Instruction *> wide_;
    llvm::DenseMap<std::pair<llvm::Instruction *, llvm::BasicBlock *>, llvm::Value *> narrow_;
};

} // namespace

llvm::PreservedAnalyses WidenMasksPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &) {
    return flow_kept(Widening(function).run());
}

} // namespace softcuda::jit
