// called_blends.cpp -- finds blends of values in memory, and makes their functions.
#include "jit/called_blends.h"

#include "jit/large_code.h"
#include "jit/mask_bytes.h"
#include "jit/target.h"

#include <llvm/ADT/DenseSet.h>

#include <vector>

namespace softcuda::jit {

namespace {

using llvm::Value;

/// Registers of a value. With fewer, a blend is as short as its call.
constexpr unsigned kLeastRegisters = 4;

/// A load, a select and a store of one slot.
struct Blend {
    llvm::LoadInst *old;
    llvm::SelectInst *select;
    llvm::StoreInst *store;
};

class Blends {
  public:
    Blends(llvm::Function &function, const Target &target) : function_(function), target_(target) {}

    void call() {
        for (const Blend &blend : find())
            replace(blend);
    }

  private:
    /// Nothing but loads and stores use the slot, so other instructions do not access it.
    static bool is_private(const llvm::AllocaInst &slot) {
        return llvm::all_of(slot.users(), [&](const llvm::User *user) {
            const auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
            return llvm::isa<llvm::LoadInst>(user) ||
                   (store && store->getPointerOperand() == &slot);
        });
    }

    [[nodiscard]] bool is_large(const llvm::Type *type) const {
        const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
        return vector && vector->getScalarSizeInBits() >= 8 &&
               vector->getPrimitiveSizeInBits().getFixedValue() >=
                   std::uint64_t{kLeastRegisters} * target_.facts().register_bits;
    }

    std::vector<Blend> find() {
        llvm::DenseSet<const Value *> slots;
        for (const llvm::Instruction &i : function_.getEntryBlock())
            if (const auto *slot = llvm::dyn_cast<llvm::AllocaInst>(&i);
                slot && is_large(slot->getAllocatedType()) && is_private(*slot))
                slots.insert(slot);
        std::vector<Blend> found;
        for (llvm::BasicBlock &block : function_) {
            llvm::DenseMap<const Value *, llvm::Instruction *> last; ///< access, by slot
            for (llvm::Instruction &i : block) {
                const Value *slot = llvm::getLoadStorePointerOperand(&i);
                if (!slot || !slots.contains(slot))
                    continue;
                auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
                auto *old = llvm::dyn_cast_or_null<llvm::LoadInst>(last.lookup(slot));
                last[slot] = &i;
                auto *select =
                    store ? llvm::dyn_cast<llvm::SelectInst>(store->getValueOperand()) : nullptr;
                if (old && select && select->getFalseValue() == old && old->hasOneUse() &&
                    select->hasOneUse() && select->getCondition()->getType()->isVectorTy())
                    found.push_back({old, select, store});
            }
        }
        return found;
    }

    // The processor's masks as a number. Other masks as bytes of which the function looks at the
    // sign, as in slots and between basic blocks.
    Value *argument_of(llvm::IRBuilder<> &b, Value *mask) {
        const auto *lanes = llvm::cast<llvm::FixedVectorType>(mask->getType());
        if (target_.facts().masks_all())
            return b.CreateBitCast(mask, b.getIntNTy(lanes->getNumElements()));
        if (Value *bytes = bytes_of_mask(*mask))
            return bytes;
        return b.CreateSExt(mask, mask->getType()->getWithNewType(b.getInt8Ty()));
    }

    static Value *mask_of(llvm::IRBuilder<> &b, Value *argument, unsigned lanes) {
        if (argument->getType()->isIntegerTy())
            return b.CreateBitCast(argument, llvm::FixedVectorType::get(b.getInt1Ty(), lanes));
        return mask_of_bytes(b, argument);
    }

    llvm::Function *function_for(llvm::Type *mask, llvm::FixedVectorType *type) {
        llvm::Function *&made = made_[type];
        if (made)
            return made;
        llvm::IRBuilder<> b(function_.getContext());
        llvm::Type *const parameters[] = {mask, type, b.getPtrTy()};
        made =
            llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false),
                                   llvm::Function::InternalLinkage, "blend", function_.getParent());
        target_.apply_to_preserving(*made);
        made->addFnAttr(llvm::Attribute::NoUnwind);
        made->addFnAttr(llvm::Attribute::NoInline);
        b.SetInsertPoint(llvm::BasicBlock::Create(function_.getContext(), "", made));
        Value *old = b.CreateLoad(type, made->getArg(2));
        Value *lanes = mask_of(b, made->getArg(0), type->getNumElements());
        b.CreateStore(b.CreateSelect(lanes, made->getArg(1), old), made->getArg(2));
        b.CreateRetVoid();
        return made;
    }

    void replace(const Blend &blend) {
        llvm::IRBuilder<> b(blend.store);
        Value *mask = argument_of(b, blend.select->getCondition());
        Value *value = blend.select->getTrueValue();
        llvm::Function *function =
            function_for(mask->getType(), llvm::cast<llvm::FixedVectorType>(value->getType()));
        llvm::CallInst *call =
            b.CreateCall(function, {mask, value, blend.store->getPointerOperand()});
        call->setCallingConv(function->getCallingConv());
        blend.store->eraseFromParent();
        blend.select->eraseFromParent();
        blend.old->eraseFromParent();
    }

    llvm::Function &function_;
    const Target &target_;
    llvm::DenseMap<llvm::Type *, llvm::Function *> made_;
};

} // namespace

void call_blends(llvm::Module &module, const Target &target) {
    std::vector<llvm::Function *> large;
    for (llvm::Function &function : module)
        if (has_many_basic_blocks(function))
            large.push_back(&function);
    for (llvm::Function *function : large)
        Blends(*function, target).call();
}

} // namespace softcuda::jit
