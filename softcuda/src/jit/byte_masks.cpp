// byte_masks.cpp -- replaces operations on masks of bits.
#include "jit/byte_masks.h"

#include "jit/large_code.h"
#include "jit/mask_bytes.h"
#include "jit/target.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>

#include <vector>

namespace softcuda::jit {

namespace {

using llvm::Value;

/// The number of bytes in a register of SSE: a mask with more lanes has no register.
constexpr unsigned kRegister = 16;

bool is_wide_mask(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getElementType()->isIntegerTy(1) &&
           vector->getNumElements() > kRegister;
}

class ByteMasks {
  public:
    explicit ByteMasks(llvm::Function &function) : function_(function) {}

    void run() {
        std::vector<llvm::BinaryOperator *> found;
        for (llvm::BasicBlock *block :
             llvm::ReversePostOrderTraversal<llvm::Function *>(&function_))
            for (llvm::Instruction &i : *block)
                if (auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(&i);
                    operation && is_wide_mask(i.getType()) && operation->isBitwiseLogicOp()) {
                    found.push_back(operation);
                    operations_.insert(operation);
                }
        for (llvm::BinaryOperator *operation : found) { // operands first
            llvm::IRBuilder<> b(operation);
            bytes_[operation] = b.CreateBinOp(operation->getOpcode(), of(*operation->getOperand(0)),
                                              of(*operation->getOperand(1)));
        }
        for (llvm::BinaryOperator *operation : found)
            replace_uses(*operation);
        for (auto operation = found.rbegin(); operation != found.rend(); ++operation)
            (*operation)->eraseFromParent();
    }

  private:
    static llvm::Type *byte_type(const Value &mask) {
        return mask.getType()->getWithNewType(llvm::Type::getInt8Ty(mask.getContext()));
    }

    /// The bytes, 0 or -1 each, of an operand.
    Value *of(Value &mask) {
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(&mask))
            return llvm::IRBuilder<>(mask.getContext()).CreateSExt(constant, byte_type(mask));
        Value *&bytes = bytes_[&mask];
        if (!bytes)
            bytes = bytes_of_mask(mask); // that widen-masks passes on, or promote-slots keeps
        if (!bytes)
            bytes = behind(mask);
        return bytes;
    }

    static Value *behind(Value &mask) {
        auto &made = llvm::cast<llvm::Instruction>(mask);
        llvm::IRBuilder<> b(mask.getContext());
        b.SetInsertPoint(*made.getInsertionPointAfterDef());
        return b.CreateSExt(&mask, byte_type(mask));
    }

    void replace_uses(llvm::BinaryOperator &operation) {
        Value *bytes = bytes_.lookup(&operation);
        for (llvm::User *user : llvm::make_early_inc_range(operation.users()))
            if (auto *wide = llvm::dyn_cast<llvm::SExtInst>(user);
                wide && wide->getType() == bytes->getType()) {
                wide->replaceAllUsesWith(bytes);
                wide->eraseFromParent();
            }
        const auto stays = [&](const llvm::User *user) { return !operations_.contains(user); };
        if (llvm::none_of(operation.users(), stays))
            return;
        llvm::IRBuilder<> b(operation.getContext());
        b.SetInsertPoint(operation.getParent(), std::next(operation.getIterator()));
        Value *sign = mask_of_bytes(b, bytes);
        operation.replaceUsesWithIf(sign,
                                    [&](const llvm::Use &use) { return stays(use.getUser()); });
    }

    llvm::Function &function_;
    llvm::DenseSet<const Value *> operations_;     ///< that are replaced
    llvm::DenseMap<const Value *, Value *> bytes_; ///< of masks
};

} // namespace

void combine_masks_in_bytes(llvm::Module &module, const Target &target) {
    if (target.facts().masks_all())
        return;
    for (llvm::Function &function : module)
        if (has_many_basic_blocks(function))
            ByteMasks(function).run();
}

} // namespace softcuda::jit
