// split_lanes.cpp -- replaces runs of instructions by loops over parts of a warp.
#include "jit/split_lanes.h"

#include "jit/lane_runs.h"
#include "jit/lane_slots.h"
#include "jit/mask_bytes.h"
#include "jit/target.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

namespace softcuda::jit {

namespace {

using llvm::Instruction;
using llvm::Value;

bool has_more_registers(const llvm::Function &function, unsigned register_bits,
                        std::uint64_t most) {
    std::uint64_t sum = 0;
    for (const llvm::BasicBlock &block : function)
        for (const Instruction &i : block)
            sum += registers_of(i, register_bits);
    return sum > most;
}

/// One run as a loop.
class PartLoop {
  public:
    PartLoop(const LaneRun &run, const LaneRuns &runs, LaneSlots &slots, unsigned width)
        : run_(run), runs_(runs), slots_(slots), width_(width), b_(run.behind->getContext()) {}

    void emit() {
        llvm::BasicBlock *before = run_.behind->getParent();
        llvm::BasicBlock *after = before->splitBasicBlock(run_.behind, "lanes.done");
        llvm::BasicBlock *loop =
            llvm::BasicBlock::Create(before->getContext(), "lanes", before->getParent(), after);
        before->getTerminator()->setSuccessor(0, loop);
        b_.SetInsertPoint(loop);
        llvm::PHINode *lane = b_.CreatePHI(b_.getInt64Ty(), 2, "lane");
        lane_ = lane;
        lane->addIncoming(b_.getInt64(0), before);
        for (Instruction *i : run_.members) {
            b_.SetCurrentDebugLocation(i->getDebugLoc());
            Value *part = make_part(*i);
            if (i->getType()->isVoidTy())
                continue;
            parts_[i] = part;
            if (is_used_elsewhere(*i))
                store_part(part, slots_.slot_of(*i));
        }
        Value *next = b_.CreateAdd(lane, b_.getInt64(width_), "", /*HasNUW=*/true);
        lane->addIncoming(next, loop);
        b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(kLanes)), loop, after);
    }

  private:
    static constexpr unsigned kLanes = 32;

    [[nodiscard]] bool is_used_elsewhere(const Instruction &i) const {
        return llvm::any_of(i.users(),
                            [&](const llvm::User *user) { return slots_.run_of(*user) != &run_; });
    }

    llvm::Type *part_type(llvm::Type *type) const {
        return type->isVectorTy() ? llvm::FixedVectorType::get(type->getScalarType(), width_)
                                  : type;
    }

    Value *address(Value *start, llvm::Type *type) {
        Value *&made = addresses_[{start, type->getScalarType()}];
        if (!made)
            made = b_.CreateGEP(type->getScalarType(), scalar(start), lane_);
        return made;
    }

    /// The alignment of all parts.
    [[nodiscard]] llvm::Align part_alignment(llvm::Align whole, llvm::Type *type) const {
        const llvm::DataLayout &layout = run_.behind->getModule()->getDataLayout();
        return llvm::commonAlignment(
            whole, width_ * layout.getTypeStoreSize(type->getScalarType()).getFixedValue());
    }

    Value *load_part(Value *slot, llvm::Type *type, llvm::Align whole) {
        return b_.CreateAlignedLoad(part_type(type), address(slot, type),
                                    part_alignment(whole, type));
    }

    void store_part(Value *part, Value *slot) {
        if (part->getType()->getScalarType()->isIntegerTy(1))
            part = b_.CreateSExt(part, part->getType()->getWithNewType(b_.getInt8Ty()));
        b_.CreateAlignedStore(part, address(slot, part->getType()),
                              part_alignment(LaneSlots::kAlignment, part->getType()));
    }

    Value *load_slot(Value *slot, llvm::Type *type) {
        if (!type->getScalarType()->isIntegerTy(1))
            return load_part(slot, type, LaneSlots::kAlignment);
        llvm::Type *bytes = type->getWithNewType(b_.getInt8Ty());
        return mask_of_bytes(b_, load_part(slot, bytes, LaneSlots::kAlignment));
    }

    /// An address that one member uses, or a constant of a table: made in the loop, instead of a
    /// register over all of it.
    static bool belongs_into_loop(const Value &value) {
        return is_table_load(value) ||
               (value.hasOneUse() && !value.getType()->isVectorTy() &&
                llvm::isa<Instruction>(value) &&
                (llvm::isa<llvm::GetElementPtrInst>(value) ||
                 (llvm::isa<llvm::BinaryOperator>(value) &&
                  llvm::cast<Instruction>(value).getOpcode() == Instruction::Add)));
    }

    Value *scalar(Value *value) {
        if (!belongs_into_loop(*value))
            return value;
        if (Value *made = parts_.lookup(value))
            return made;
        Instruction *copy = llvm::cast<Instruction>(value)->clone();
        for (llvm::Use &operand : copy->operands())
            operand.set(scalar(operand.get()));
        b_.Insert(copy);
        return parts_[value] = copy;
    }

    Value *part_of(Value *value) {
        if (!value->getType()->isVectorTy())
            return scalar(value);
        if (Value *made = parts_.lookup(value))
            return made;
        Value *part = make_operand(*value);
        parts_[value] = part;
        return part;
    }

    Value *make_operand(Value &value) {
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(&value)) {
            if (llvm::isa<llvm::PoisonValue>(constant))
                return llvm::PoisonValue::get(part_type(value.getType()));
            if (llvm::Constant *splat = constant->getSplatValue())
                return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width_), splat);
            return load_slot(slots_.variable_of(*constant), value.getType());
        }
        if (Value *source = splat_source(value))
            return b_.CreateVectorSplat(width_, scalar(source));
        return load_slot(slots_.slot_of(value), value.getType());
    }

    Value *make_part(Instruction &i) {
        Value *part = make(i);
        // A load may give what was stored.
        if (auto *made = llvm::dyn_cast<Instruction>(part);
            made && made->getOpcode() == i.getOpcode()) {
            made->copyMetadata(i);
            made->setDebugLoc(i.getDebugLoc());
        }
        return part;
    }

    Value *make(Instruction &i) {
        if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
            return make_load(*load);
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
            return make_store(*store);
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
            return make_call(*call);
        Instruction *part = i.clone();
        for (llvm::Use &operand : part->operands())
            operand.set(part_of(operand.get()));
        part->mutateType(part_type(i.getType()));
        return b_.Insert(part);
    }

    Value *make_load(llvm::LoadInst &load) {
        Value *pointer = load.getPointerOperand();
        if (!runs_.is_own_slot(*pointer))
            return load_part(pointer, load.getType(), load.getAlign());
        Value *&held = in_slots_[pointer];
        if (!held)
            held = load_part(pointer, load.getType(), load.getAlign());
        return held;
    }

    Value *make_store(llvm::StoreInst &store) {
        Value *pointer = store.getPointerOperand();
        Value *part = part_of(store.getValueOperand());
        if (runs_.is_own_slot(*pointer))
            in_slots_[pointer] = part;
        return b_.CreateAlignedStore(part, address(pointer, part->getType()),
                                     part_alignment(store.getAlign(), part->getType()));
    }

    llvm::Align alignment(const llvm::IntrinsicInst &call, unsigned argument) const {
        return llvm::cast<llvm::ConstantInt>(call.getArgOperand(argument))->getAlignValue();
    }

    Value *make_call(llvm::IntrinsicInst &call) {
        const auto part = [&](unsigned n) { return part_of(call.getArgOperand(n)); };
        Value *const first = call.getArgOperand(0);
        llvm::Type *type = call.getType();
        switch (call.getIntrinsicID()) {
        case llvm::Intrinsic::masked_load:
            return b_.CreateMaskedLoad(part_type(type), address(first, type),
                                       part_alignment(alignment(call, 1), type), part(2), part(3));
        case llvm::Intrinsic::masked_store:
            type = first->getType();
            return b_.CreateMaskedStore(part(0), address(call.getArgOperand(1), type),
                                        part_alignment(alignment(call, 2), type), part(3));
        case llvm::Intrinsic::masked_gather:
            return b_.CreateMaskedGather(part_type(type), part(0), alignment(call, 1), part(2),
                                         part(3));
        case llvm::Intrinsic::masked_scatter:
            return b_.CreateMaskedScatter(part(0), part(1), alignment(call, 2), part(3));
        default:
            return make_plain_call(call);
        }
    }

    Value *make_plain_call(llvm::IntrinsicInst &call) {
        llvm::SmallVector<Value *, 4> arguments;
        llvm::SmallVector<llvm::Type *, 4> types, overloads;
        for (const llvm::Use &argument : call.args()) {
            arguments.push_back(part_of(argument.get()));
            types.push_back(arguments.back()->getType());
        }
        auto *type = llvm::FunctionType::get(part_type(call.getType()), types, false);
        if (!llvm::Intrinsic::getIntrinsicSignature(call.getIntrinsicID(), type, overloads))
            throw std::logic_error("an intrinsic has no form for parts of a warp");
        llvm::Function *function =
            llvm::Intrinsic::getDeclaration(call.getModule(), call.getIntrinsicID(), overloads);
        llvm::CallInst *made = b_.CreateCall(function, arguments);
        if (llvm::isa<llvm::FPMathOperator>(call))
            made->copyFastMathFlags(&call);
        return made;
    }

    const LaneRun &run_;
    const LaneRuns &runs_;
    LaneSlots &slots_;
    const unsigned width_;
    llvm::IRBuilder<> b_;
    Value *lane_ = nullptr;
    llvm::DenseMap<Value *, Value *> parts_;
    llvm::DenseMap<std::pair<Value *, llvm::Type *>, Value *> addresses_;
    llvm::DenseMap<Value *, Value *> in_slots_; ///< the parts that the run's own slots hold
};

/// Vectors that several basic blocks pass on are in slots, whose parts the loops access.
void demote_phis(llvm::Function &function) {
    std::vector<llvm::PHINode *> phis;
    for (llvm::BasicBlock &block : function)
        for (llvm::PHINode &phi : block.phis())
            if (phi.getType()->isVectorTy() && phi.getType()->getScalarSizeInBits() >= 8)
                phis.push_back(&phi);
    for (llvm::PHINode *phi : phis)
        llvm::DemotePHIToStack(phi);
}

/// Erases the instructions that loops replace, and what only they used.
void erase_members(const std::vector<LaneRun> &runs) {
    llvm::SmallVector<llvm::WeakTrackingVH, 64> operands;
    for (const LaneRun &run : runs)
        for (Instruction *i : run.members)
            for (Value *operand : i->operands())
                if (llvm::isa<Instruction>(operand))
                    operands.emplace_back(operand);
    for (const LaneRun &run : runs)
        for (Instruction *i : run.members)
            i->dropAllReferences();
    for (const LaneRun &run : runs)
        for (Instruction *i : run.members)
            i->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(operands);
}

} // namespace

bool split_lanes(llvm::Function &function, const Target &target, std::uint64_t most_registers) {
    const unsigned bits = target.facts().register_bits;
    if (target.facts().masks_all() || target.is_for_debugging() ||
        !has_more_registers(function, bits, most_registers))
        return false;
    demote_phis(function);
    const LaneRuns found(function, bits);
    LaneSlots slots(function, found.runs(), target);
    for (const LaneRun &run : found.runs())
        PartLoop(run, found, slots, bits / 32).emit();
    slots.connect();
    erase_members(found.runs());
    return true;
}

} // namespace softcuda::jit
