// lane_runs.cpp -- finds runs of instructions that compute each lane of a warp for itself.
#include "jit/lane_runs.h"

#include "jit/split_blocks.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <utility>

namespace softcuda::jit {

namespace {

using llvm::Instruction;
using llvm::Value;

constexpr unsigned kWarpLanes = 32;

/// If a loop has so many registers less, it costs as much as it saves: two basic blocks, and memory
/// between runs.
constexpr std::uint64_t kLeastSaved = 12;

bool is_warp(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector && vector->getNumElements() == kWarpLanes;
}

/// A vector whose parts have addresses in memory.
bool has_addresses(const llvm::Type *type) {
    if (!is_warp(type))
        return false;
    if (type->getScalarType()->isPointerTy())
        return true;
    const unsigned bits = type->getScalarSizeInBits();
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// A value of which a slot can keep parts. Masks are kept as bytes.
bool has_parts(const llvm::Type *type) {
    return has_addresses(type) || (is_warp(type) && type->getScalarType()->isIntegerTy(1));
}

bool has_operands_of_lanes(const Instruction &i) {
    return llvm::all_of(i.operands(), [](const Value *operand) {
        return !operand->getType()->isVectorTy() || has_parts(operand->getType());
    });
}

bool is_plain_intrinsic(const llvm::IntrinsicInst &call) {
    return llvm::isTriviallyVectorizable(call.getIntrinsicID());
}

bool is_masked_access(const llvm::IntrinsicInst &call) {
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather:
        return has_addresses(call.getType());
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter:
        return has_addresses(call.getArgOperand(0)->getType());
    default:
        return false;
    }
}

/// Whether each lane of the result depends on this lane of the operands only.
bool is_by_lanes(const Instruction &i) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
        return !load->isAtomic() && has_addresses(load->getType());
    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
        return !store->isAtomic() && has_addresses(store->getValueOperand()->getType());
    if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&i)) {
        if (is_masked_access(*call))
            return true;
        return has_parts(i.getType()) && has_operands_of_lanes(i) && is_plain_intrinsic(*call);
    }
    if (!has_parts(i.getType()))
        return false;
    if (llvm::isa<llvm::BitCastInst>(i) && !i.getOperand(0)->getType()->isVectorTy())
        return false; // a mask of a number
    return has_operands_of_lanes(i) &&
           (llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CmpInst, llvm::CastInst,
                      llvm::SelectInst, llvm::GetElementPtrInst, llvm::FreezeInst>(i));
}

bool is_volatile(const Instruction &i) {
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
        return load->isVolatile();
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
    return store && store->isVolatile();
}

/// The address of a load or store, as `base[index + offset]`.
class Place {
  public:
    Place() = default;
    explicit Place(const Instruction &i) {
        const Value *pointer = llvm::getLoadStorePointerOperand(&i);
        if (!pointer)
            return;
        const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
        llvm::Type *type = store ? store->getValueOperand()->getType() : i.getType();
        bytes_ = i.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
        base_ = pointer;
        const auto *element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
        if (!element || element->getNumIndices() != 1 ||
            !element->getSourceElementType()->isIntegerTy(8))
            return;
        base_ = element->getPointerOperand();
        index_ = element->getOperand(1);
        using namespace llvm::PatternMatch;
        llvm::ConstantInt *offset = nullptr;
        Value *rest = nullptr;
        if (match(element->getOperand(1), m_Add(m_Value(rest), m_ConstantInt(offset)))) {
            index_ = rest;
            offset_ = offset->getSExtValue();
        }
    }

    /// Whether two accesses of vectors of equal size are at the same place, or do not overlap.
    [[nodiscard]] bool has_whole_distance(const Place &other) const {
        return base_ && base_ == other.base_ && index_ == other.index_ && bytes_ == other.bytes_ &&
               (offset_ - other.offset_) % static_cast<std::int64_t>(bytes_) == 0;
    }

  private:
    const Value *base_ = nullptr;
    const Value *index_ = nullptr;
    std::int64_t offset_ = 0;
    std::uint64_t bytes_ = 0;
};

bool is_slot(const llvm::AllocaInst &slot) {
    const llvm::Type *type = slot.getAllocatedType();
    return has_addresses(type) && slot.isStaticAlloca() &&
           llvm::all_of(slot.users(), [&](const llvm::User *user) {
               if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(user))
                   return load->getType() == type;
               const auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
               return store && store->getPointerOperand() == &slot &&
                      store->getValueOperand()->getType() == type;
           });
}

} // namespace

Value *splat_source(const Value &vector) {
    const auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&vector);
    if (!shuffle || !shuffle->isZeroEltSplat())
        return nullptr;
    const auto *insert = llvm::dyn_cast<llvm::InsertElementInst>(shuffle->getOperand(0));
    const auto *place = insert ? llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2)) : nullptr;
    return place && place->isZero() ? insert->getOperand(1) : nullptr;
}

std::uint64_t registers_of(const Instruction &i, unsigned register_bits) {
    const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i);
    const llvm::Type *type = store ? store->getValueOperand()->getType() : i.getType();
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector || splat_source(i))
        return 1;
    const unsigned element =
        type->getScalarType()->isPointerTy() ? 64 : std::max(8U, vector->getScalarSizeInBits());
    return std::max(1U, vector->getNumElements() * element / register_bits);
}

bool is_table_load(const Value &value) {
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&value);
    return load && !load->isVolatile() && load->hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
           llvm::isa<llvm::Constant>(load->getPointerOperand());
}

namespace {

/// Collects the runs of one basic block after another.
class Builder {
  public:
    Builder(const LaneRuns &of, unsigned register_bits) : of_(of), register_bits_(register_bits) {}

    void add_block(llvm::BasicBlock &block) {
        for (Instruction &i : llvm::make_range(behind_allocations(block), block.end()))
            add(i);
    }

    std::vector<LaneRun> take() { return std::move(runs_); }

  private:
    void add(Instruction &i) {
        if (splat_source(i))
            return; // made again where a part of a member needs it
        if (is_member(i)) {
            if (conflicts(i))
                close(i);
            note_memory(i);
            members_.push_back(&i);
            in_run_.insert(&i);
        } else if (i.isTerminator() || depends(i) || i.mayHaveSideEffects() ||
                   (i.mayReadFromMemory() && stores_)) {
            close(i);
        }
    }

    [[nodiscard]] bool is_own_slot(const Instruction &i) const {
        const Value *pointer = llvm::getLoadStorePointerOperand(&i);
        return pointer && of_.is_own_slot(*pointer);
    }

    [[nodiscard]] bool is_member(const Instruction &i) const {
        return is_by_lanes(i) && (!is_volatile(i) || is_own_slot(i));
    }

    /// Memory that the instruction may share with others. A loop over the parts of the lanes
    /// changes the order of two accesses of a run if they are at different addresses that overlap.
    [[nodiscard]] bool is_shared(const Instruction &i) const {
        return i.mayReadOrWriteMemory() && !is_own_slot(i) && !is_table_load(i);
    }

    [[nodiscard]] bool conflicts(const Instruction &i) const {
        if (!is_shared(i) || (!stores_ && !(loads_ && i.mayWriteToMemory())))
            return false;
        return !one_array_ || !first_.has_whole_distance(Place(i));
    }

    void note_memory(const Instruction &i) {
        if (!is_shared(i))
            return;
        const Place place(i);
        if (!stores_ && !loads_)
            first_ = place;
        one_array_ = (one_array_ || (!stores_ && !loads_)) && first_.has_whole_distance(place);
        stores_ |= i.mayWriteToMemory();
        loads_ |= i.mayReadFromMemory();
    }

    [[nodiscard]] bool depends(const Instruction &i) const {
        return llvm::any_of(i.operands(),
                            [&](const Value *operand) { return in_run_.contains(operand); });
    }

    void close(Instruction &behind) {
        std::uint64_t saved = 0;
        for (const Instruction *i : members_)
            saved += registers_of(*i, register_bits_) - 1;
        if (saved > kLeastSaved)
            runs_.push_back({members_, &behind});
        members_.clear();
        in_run_.clear();
        stores_ = loads_ = one_array_ = false;
    }

    const LaneRuns &of_;
    const unsigned register_bits_;
    std::vector<LaneRun> runs_;
    std::vector<Instruction *> members_;
    llvm::DenseSet<const Value *> in_run_;
    bool stores_ = false, loads_ = false; ///< of shared memory, by members
    Place first_;                         ///< of the first access to shared memory
    bool one_array_ = false;              ///< all others have whole distances from it
};

} // namespace

LaneRuns::LaneRuns(llvm::Function &function, unsigned register_bits) {
    for (const Instruction &i : function.getEntryBlock())
        if (const auto *slot = llvm::dyn_cast<llvm::AllocaInst>(&i); slot && is_slot(*slot))
            slots_.insert(slot);
    Builder builder(*this, register_bits);
    for (llvm::BasicBlock &block : function)
        builder.add_block(block);
    runs_ = builder.take();
}

} // namespace softcuda::jit
