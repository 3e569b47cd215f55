// long_lived.cpp -- finds values with distant uses, and replaces these uses by loads.
#include "jit/long_lived.h"

#include "jit/large_code.h"

#include <llvm/ADT/DenseMap.h>

#include <algorithm>
#include <vector>

namespace softcuda::jit {

namespace {

/// So many values may be live everywhere. Addresses of the kernel's parameters are among them.
constexpr std::size_t kMostEverywhere = 16;

struct LongLived {
    llvm::Instruction *value;
    std::vector<llvm::Use *> distant;
};

/// The basic block in which the value must be available. For a phi, a predecessor.
llvm::BasicBlock *block_of(const llvm::Use &use) {
    auto *user = llvm::cast<llvm::Instruction>(use.getUser());
    if (auto *phi = llvm::dyn_cast<llvm::PHINode>(user))
        return phi->getIncomingBlock(use);
    return user->getParent();
}

bool fits_in_memory(const llvm::Instruction &i) {
    const llvm::Type *type = i.getType();
    return !llvm::isa<llvm::AllocaInst>(i) && !i.isTerminator() && type->isSingleValueType() &&
           !type->isX86_AMXTy();
}

class LongLivedValues {
  public:
    explicit LongLivedValues(llvm::Function &function) : function_(function), order_(function) {}

    void store() {
        std::vector<LongLived> found;
        for (llvm::BasicBlock &block : function_)
            for (llvm::Instruction &i : block)
                if (fits_in_memory(i))
                    if (LongLived one{&i, distant_uses(i)}; !one.distant.empty())
                        found.push_back(std::move(one));
        if (found.size() <= kMostEverywhere)
            return;
        std::ranges::stable_sort(found, std::ranges::greater{},
                                 [](const LongLived &one) { return one.distant.size(); });
        for (std::size_t n = kMostEverywhere; n < found.size(); ++n)
            store(found[n]);
    }

  private:
    std::vector<llvm::Use *> distant_uses(llvm::Instruction &i) const {
        std::vector<llvm::Use *> distant;
        for (llvm::Use &use : i.uses())
            if (order_.distance(i.getParent(), block_of(use)) > kLongLifetime)
                distant.push_back(&use);
        return distant;
    }

    void store(const LongLived &one) {
        llvm::BasicBlock &entry = function_.getEntryBlock();
        auto *slot = new llvm::AllocaInst(
            one.value->getType(), function_.getParent()->getDataLayout().getAllocaAddrSpace(),
            "kept", entry.begin());
        const bool is_phi = llvm::isa<llvm::PHINode>(one.value);
        llvm::IRBuilder<> b(function_.getContext());
        if (is_phi)
            b.SetInsertPoint(one.value->getParent(), one.value->getParent()->getFirstInsertionPt());
        else
            b.SetInsertPoint(one.value->getParent(), std::next(one.value->getIterator()));
        b.CreateStore(one.value, slot);
        llvm::DenseMap<llvm::BasicBlock *, llvm::Value *> loads;
        for (llvm::Use *use : one.distant) {
            llvm::Value *&load = loads[block_of(*use)];
            if (!load) {
                llvm::BasicBlock *block = block_of(*use);
                b.SetInsertPoint(block, block->getFirstInsertionPt());
                load = b.CreateLoad(one.value->getType(), slot);
            }
            use->set(load);
        }
    }

    llvm::Function &function_;
    BlockOrder order_;
};

} // namespace

void store_long_lived(llvm::Module &module) {
    for (llvm::Function &function : module)
        if (has_many_basic_blocks(function))
            LongLivedValues(function).store();
}

} // namespace softcuda::jit
