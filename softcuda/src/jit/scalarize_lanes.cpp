// scalarize_lanes.cpp -- finds groups of vectors between insertions and extractions of lanes.
#include "jit/scalarize_lanes.h"

#include "jit/flow_kept.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <optional>

namespace softcuda::jit {

namespace {

using llvm::Instruction;
using llvm::Value;

const llvm::ConstantInt *constant_lane(const Value *lane) {
    return llvm::dyn_cast<llvm::ConstantInt>(lane);
}

bool is_insertion(const Value *value) {
    const auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(value);
    return insert && constant_lane(insert->getOperand(2));
}

bool is_extraction(const Value *value) {
    const auto *extract = llvm::dyn_cast<llvm::ExtractElementInst>(value);
    return extract && constant_lane(extract->getIndexOperand());
}

/// Operations that take about as long for one lane as for a vector.
bool is_cheap(const Instruction &i) {
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
        switch (call->getIntrinsicID()) {
        case llvm::Intrinsic::smin:
        case llvm::Intrinsic::smax:
        case llvm::Intrinsic::umin:
        case llvm::Intrinsic::umax:
        case llvm::Intrinsic::fma:
            return true;
        default:
            return false;
        }
    return llvm::isa<llvm::BinaryOperator>(i) && !i.isIntDivRem() &&
           i.getOpcode() != Instruction::FDiv && i.getOpcode() != Instruction::FRem &&
           !i.getType()->getScalarType()->is16bitFPTy();
}

/// A cheap operation between insertions and extractions: at most two follow each other.
bool is_between(const Instruction &i) {
    return is_cheap(i) &&
           (llvm::any_of(i.operands(), [](const auto &o) { return is_insertion(o); }) ||
            llvm::all_of(i.users(), [](const auto *u) { return is_extraction(u); }));
}

/// The instruction before which an operation with these operands can be made at the earliest, in
/// the basic block of `i`.
template <typename Operands> Instruction &earliest_place(Instruction &i, const Operands &operands) {
    Instruction *last = nullptr;
    for (Value *operand : operands)
        if (auto *other = llvm::dyn_cast<Instruction>(operand);
            other && other->getParent() == i.getParent() && !llvm::isa<llvm::PHINode>(other) &&
            (!last || last->comesBefore(other)))
            last = other;
    return last ? *last->getNextNode() : *i.getParent()->getFirstNonPHI();
}

class Lanes {
  public:
    /// Collects the vectors that can be replaced by their lanes.
    explicit Lanes(llvm::Function &function) {
        for (llvm::BasicBlock &block : function)
            for (Instruction &i : block)
                if (llvm::isa<llvm::FixedVectorType>(i.getType()) &&
                    (is_insertion(&i) || is_between(i)))
                    vectors_.insert(&i);
        std::vector<Instruction *> left(vectors_.begin(), vectors_.end());
        while (!left.empty()) {
            Instruction *i = left.back();
            left.pop_back();
            if (!vectors_.contains(i) || may_go(*i))
                continue;
            vectors_.erase(i);
            for (Value *operand : i->operands())
                if (auto *other = llvm::dyn_cast<Instruction>(operand))
                    left.push_back(other);
            for (llvm::User *user : i->users())
                left.push_back(llvm::cast<Instruction>(user));
        }
    }

    /// Null if the vector stays.
    Value *lane_of(Value *vector, std::uint64_t lane) {
        if (auto *constant = llvm::dyn_cast<llvm::Constant>(vector))
            return constant->getAggregateElement(static_cast<unsigned>(lane));
        auto *i = llvm::cast<Instruction>(vector);
        if (!vectors_.contains(i))
            return nullptr;
        if (is_insertion(i)) {
            if (constant_lane(i->getOperand(2))->getZExtValue() != lane)
                return lane_of(i->getOperand(0), lane);
            if (auto *load = llvm::dyn_cast<llvm::LoadInst>(i->getOperand(1)))
                loads.insert(load);
            return i->getOperand(1);
        }
        Value *&made = made_[{i, lane}];
        return made ? made : made = compute(*i, lane);
    }

    llvm::SetVector<llvm::LoadInst *> loads; ///< of the lanes so far

  private:
    [[nodiscard]] bool may_go(const Instruction &i) const {
        auto goes = [&](const Value *value) {
            const auto *other = llvm::dyn_cast<Instruction>(value);
            return other && vectors_.contains(const_cast<Instruction *>(other));
        };
        const unsigned vectors = is_insertion(&i) ? 1 : i.getNumOperands();
        for (unsigned n = 0; n < vectors; ++n) {
            const Value *operand = i.getOperand(n);
            const auto *constant = llvm::dyn_cast<llvm::Constant>(operand);
            if (constant ? !constant->getAggregateElement(0u) : !goes(operand))
                return false;
        }
        return llvm::all_of(
            i.users(), [&](const llvm::User *user) { return goes(user) || is_extraction(user); });
    }

    Value *compute(Instruction &i, std::uint64_t lane) {
        llvm::SmallVector<Value *, 3> operands;
        for (Value *operand :
             llvm::isa<llvm::CallBase>(i) ? llvm::cast<llvm::CallBase>(i).args() : i.operands())
            operands.push_back(lane_of(operand, lane));
        llvm::IRBuilder<> b(&earliest_place(i, operands));
        b.SetCurrentDebugLocation(i.getDebugLoc());
        Value *made = nullptr;
        if (auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i))
            made =
                b.CreateIntrinsic(call->getIntrinsicID(), {i.getType()->getScalarType()}, operands);
        else
            made = b.CreateBinOp(llvm::cast<llvm::BinaryOperator>(i).getOpcode(), operands[0],
                                 operands[1]);
        if (auto *instruction = llvm::dyn_cast<Instruction>(made))
            instruction->copyIRFlags(&i);
        return made;
    }

    llvm::SmallPtrSet<Instruction *, 32> vectors_;
    std::map<std::pair<Instruction *, std::uint64_t>, Value *> made_;
};

/// A part of memory: `bytes` from `start` + `index` + `offset`.
struct Place {
    const Value *start = nullptr, *index = nullptr;
    std::int64_t offset = 0, bytes = 0;

    [[nodiscard]] bool surely_apart_from(const Place &other) const {
        return start == other.start && index == other.index &&
               (offset + bytes <= other.offset || other.offset + other.bytes <= offset);
    }
};

Place place_of(const Value *pointer, std::int64_t bytes) {
    Place place{.start = pointer, .bytes = bytes};
    while (const auto *step = llvm::dyn_cast<llvm::GetElementPtrInst>(place.start)) {
        if (step->getNumIndices() != 1 || !step->getSourceElementType()->isIntegerTy(8))
            break;
        const Value *index = step->getOperand(1);
        std::int64_t constant = 0;
        const auto *sum = llvm::dyn_cast<llvm::BinaryOperator>(index);
        const bool adds = sum && (sum->getOpcode() == Instruction::Add ||
                                  (sum->getOpcode() == Instruction::Or &&
                                   llvm::cast<llvm::PossiblyDisjointInst>(sum)->isDisjoint()));
        if (const auto *whole = llvm::dyn_cast<llvm::ConstantInt>(index)) {
            constant = whole->getSExtValue();
            index = nullptr;
        } else if (adds && constant_lane(sum->getOperand(1))) {
            constant = constant_lane(sum->getOperand(1))->getSExtValue();
            index = sum->getOperand(0);
        }
        if (index && place.index)
            break;
        place.index = index ? index : place.index;
        place.offset += constant;
        place.start = step->getPointerOperand();
    }
    return place;
}

std::optional<Place> place_of(Instruction &access) {
    const Value *pointer = llvm::getLoadStorePointerOperand(&access);
    if (!pointer || access.isVolatile() || access.isAtomic())
        return std::nullopt;
    const llvm::DataLayout &layout = access.getModule()->getDataLayout();
    return place_of(pointer, static_cast<std::int64_t>(
                                 layout.getTypeStoreSize(llvm::getLoadStoreType(&access))));
}

/// Whether a load or store may change places with another instruction.
bool may_swap(Instruction &access, Instruction &other) {
    if (!other.mayReadOrWriteMemory() && !other.mayHaveSideEffects())
        return true;
    if (llvm::isa<llvm::LoadInst>(access) && llvm::isa<llvm::LoadInst>(other))
        return !access.isVolatile() && !other.isVolatile() && !other.isAtomic();
    const auto mine = place_of(access), theirs = place_of(other);
    return mine && theirs && mine->surely_apart_from(*theirs);
}

void move_up_address(Value *value, const llvm::BasicBlock *block) {
    auto *i = llvm::dyn_cast<Instruction>(value);
    if (!i || i->getParent() != block || i->isIntDivRem() ||
        !llvm::isa<llvm::GetElementPtrInst, llvm::BinaryOperator, llvm::CastInst>(i))
        return;
    for (Value *operand : i->operands())
        move_up_address(operand, block);
    Instruction &place = earliest_place(*i, i->operands());
    if (place.comesBefore(i))
        i->moveBefore(&place);
}

void move_up(llvm::StoreInst &store) {
    move_up_address(store.getPointerOperand(), store.getParent());
    Instruction *before = &store;
    while (Instruction *other = before->getPrevNode()) {
        if (llvm::is_contained(store.operands(), other) || llvm::isa<llvm::PHINode>(other) ||
            !may_swap(store, *other))
            break;
        before = other;
    }
    if (before != &store)
        store.moveBefore(before);
}

void move_down(llvm::LoadInst &load) {
    Instruction *after = load.getNextNode();
    while (!after->isTerminator() && !llvm::is_contained(after->operands(), &load) &&
           may_swap(load, *after))
        after = after->getNextNode();
    load.moveBefore(after);
}

void move_up_stores_of(Value &value) {
    for (llvm::User *user : value.users())
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
            store && store->getValueOperand() == &value)
            move_up(*store);
}

llvm::SmallVector<llvm::ExtractElementInst *> extractions(llvm::Function &function) {
    llvm::SmallVector<llvm::ExtractElementInst *> found;
    for (llvm::BasicBlock &block : function)
        for (Instruction &i : block)
            if (is_extraction(&i) && !llvm::isa<llvm::Argument>(i.getOperand(0)))
                found.push_back(llvm::cast<llvm::ExtractElementInst>(&i));
    return found;
}

} // namespace

// At the end, each lane is loaded, computed and stored before the next one, if the lanes are surely
// apart in memory. Otherwise all lanes would be in registers at once.
llvm::PreservedAnalyses ScalarizeLanesPass::run(llvm::Function &function,
                                                llvm::FunctionAnalysisManager &) {
    Lanes lanes(function);
    llvm::SmallVector<llvm::WeakTrackingVH, 64> dead;
    for (llvm::ExtractElementInst *extract : extractions(function)) {
        const std::uint64_t lane = constant_lane(extract->getIndexOperand())->getZExtValue();
        if (Value *scalar = lanes.lane_of(extract->getVectorOperand(), lane)) {
            extract->replaceAllUsesWith(scalar);
            dead.emplace_back(extract);
            move_up_stores_of(*scalar);
        }
    }
    for (llvm::LoadInst *load : lanes.loads)
        move_up_stores_of(*load);
    llvm::SmallVector<llvm::WeakVH, 64> loads(lanes.loads.begin(), lanes.loads.end());
    const bool changed = !dead.empty();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(dead);
    for (const llvm::WeakVH &load : llvm::reverse(loads))
        if (load)
            move_down(*llvm::cast<llvm::LoadInst>(load));
    return flow_kept(changed);
}

} // namespace softcuda::jit
