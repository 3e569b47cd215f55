// lane_slots.cpp -- slots of values between loops over the parts of a warp.
#include "jit/lane_slots.h"

#include "jit/mask_bytes.h"
#include "jit/target.h"

#include <utility>

namespace softcuda::jit {

namespace {

using llvm::Instruction;
using llvm::Value;

bool is_lane_mask(const llvm::Type *type) { return type->getScalarType()->isIntegerTy(1); }

llvm::Type *slot_type(llvm::Type *type) {
    return is_lane_mask(type) ? type->getWithNewType(llvm::Type::getInt8Ty(type->getContext()))
                              : type;
}

} // namespace

LaneSlots::LaneSlots(llvm::Function &function, const std::vector<LaneRun> &runs,
                     const Target &target)
    : function_(function), target_(target) {
    for (const LaneRun &run : runs)
        for (const Instruction *i : run.members)
            run_of_[i] = &run;
}

Value *LaneSlots::slot_of(Value &value) {
    llvm::AllocaInst *&slot = slots_[&value];
    if (!slot) {
        slot = new llvm::AllocaInst(
            slot_type(value.getType()), function_.getParent()->getDataLayout().getAllocaAddrSpace(),
            nullptr, kAlignment, "lanes", function_.getEntryBlock().begin());
    }
    return slot;
}

Value *LaneSlots::variable_of(llvm::Constant &constant) {
    llvm::GlobalVariable *&variable = variables_[&constant];
    if (!variable) {
        llvm::Constant *content = &constant;
        if (is_lane_mask(constant.getType())) {
            llvm::IRBuilder<> b(constant.getContext());
            content =
                llvm::cast<llvm::Constant>(b.CreateSExt(content, slot_type(content->getType())));
        }
        variable = new llvm::GlobalVariable(*function_.getParent(), content->getType(),
                                            /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
                                            content, "lanes");
        variable->setAlignment(kAlignment);
    }
    return variable;
}

bool LaneSlots::is_only_for_loops(const Value &value) const {
    return llvm::all_of(value.users(), [&](const llvm::User *user) { return run_of(*user); });
}

llvm::Function *LaneSlots::copy_of(llvm::FixedVectorType *type) {
    llvm::Function *&made = copies_[type];
    if (made)
        return made;
    llvm::IRBuilder<> b(function_.getContext());
    llvm::Type *const parameters[] = {b.getPtrTy(), b.getPtrTy()};
    made = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false),
                                  llvm::Function::InternalLinkage, "copy_lanes",
                                  function_.getParent());
    target_.apply_to_preserving(*made);
    made->addFnAttr(llvm::Attribute::NoUnwind);
    made->addFnAttr(llvm::Attribute::NoInline);
    b.SetInsertPoint(llvm::BasicBlock::Create(function_.getContext(), "", made));
    b.CreateAlignedStore(b.CreateAlignedLoad(type, made->getArg(1), llvm::Align(1)),
                         made->getArg(0), kAlignment);
    b.CreateRetVoid();
    return made;
}

void LaneSlots::store(Value &value, Value &slot) {
    llvm::IRBuilder<> b(function_.getContext());
    auto *type = llvm::cast<llvm::FixedVectorType>(value.getType());
    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&value);
        load && load->isSimple() && !is_lane_mask(type) && is_only_for_loops(value)) {
        b.SetInsertPoint(load);
        llvm::Function *copy = copy_of(type);
        llvm::CallInst *call = b.CreateCall(copy, {&slot, load->getPointerOperand()});
        call->setCallingConv(copy->getCallingConv());
        return; // the load has no users later
    }
    if (auto *i = llvm::dyn_cast<Instruction>(&value)) {
        b.SetInsertPoint(*i->getInsertionPointAfterDef());
        b.SetCurrentDebugLocation(i->getDebugLoc());
    } else { // an argument
        b.SetInsertPoint(&function_.getEntryBlock(),
                         function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    }
    Value *stored =
        is_lane_mask(value.getType()) ? b.CreateSExt(&value, slot_type(value.getType())) : &value;
    b.CreateAlignedStore(stored, &slot, kAlignment);
}

Value *LaneSlots::load(Instruction &value, Instruction &user) {
    llvm::IRBuilder<> b(&user);
    Value *loaded = b.CreateAlignedLoad(slot_type(value.getType()), slot_of(value), kAlignment);
    return is_lane_mask(value.getType()) ? mask_of_bytes(b, loaded) : loaded;
}

void LaneSlots::load_for_users(Instruction &value) {
    llvm::MapVector<llvm::BasicBlock *, std::vector<llvm::Use *>> in_blocks;
    for (llvm::Use &use : value.uses()) {
        auto *user = llvm::cast<Instruction>(use.getUser());
        if (run_of(*user))
            continue;
        auto *phi = llvm::dyn_cast<llvm::PHINode>(user);
        in_blocks[phi ? phi->getIncomingBlock(use) : user->getParent()].push_back(&use);
    }
    for (auto &[block, of_block] : in_blocks) {
        // In front of the first user. The value does not change in the block: a loop computes it.
        Instruction *first = block->getTerminator();
        for (llvm::Use *use : of_block)
            if (auto *user = llvm::cast<Instruction>(use->getUser());
                !llvm::isa<llvm::PHINode>(user) && user->comesBefore(first))
                first = user;
        Value *loaded = load(value, *first);
        for (llvm::Use *use : of_block)
            use->set(loaded);
    }
}

void LaneSlots::connect() {
    std::vector<std::pair<Value *, llvm::AllocaInst *>> made(slots_.begin(), slots_.end());
    for (const auto &[value, slot] : made) {
        if (run_of(*value))
            load_for_users(llvm::cast<Instruction>(*value));
        else
            store(*value, *slot);
    }
}

} // namespace softcuda::jit
