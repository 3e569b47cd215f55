// promote_slots.cpp -- from each load back to the stores that reach it.
//
// Within a basic block, a load takes the value of the last store before it. If there is none, the
// value is looked for in the predecessors, and so on until basic blocks that store:
//
//     a: store 1, %s            b: store 2, %s               a:              b:
//              \                 /                  becomes       \          /
//               c: %x = load %s                              c: %x = phi [1, a], [2, b]
//
// Each basic block with several predecessors gets a phi on the way. A phi whose operands are all
// one value, or itself, is replaced by this value. (After Braun et al., "Simple and Efficient
// Construction of Static Single Assignment Form", CC 2013.)
#include "jit/promote_slots.h"

#include "jit/flow_kept.h"
#include "jit/large_code.h"
#include "jit/mask_bytes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/ValueHandle.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace softcuda::jit {

namespace {

using llvm::BasicBlock;
using llvm::Value;

bool is_promotable(const llvm::AllocaInst &alloca) {
    if (alloca.isArrayAllocation())
        return false;
    return llvm::all_of(alloca.users(), [&](const llvm::User *user) {
        if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(user))
            return load->isSimple() && load->getType() == alloca.getAllocatedType();
        const auto *store = llvm::dyn_cast<llvm::StoreInst>(user);
        return store && store->isSimple() && store->getPointerOperand() == &alloca &&
               store->getValueOperand()->getType() == alloca.getAllocatedType();
    });
}

/// One alloca, and what its basic blocks do with it.
struct Slot {
    llvm::AllocaInst *alloca = nullptr;
    /// By basic block that stores: the last value. Other slots' loads may be replaced meanwhile.
    std::vector<std::pair<BasicBlock *, llvm::TrackingVH<Value>>> last_stores;
    std::vector<llvm::LoadInst *> open_loads; ///< before any store in their basic block; one each
};

/// Finds the values of one slot's open loads.
class SlotValues {
  public:
    SlotValues(Slot &slot, const llvm::DenseSet<const BasicBlock *> &reachable)
        : slot_(slot), reachable_(reachable), type_(slot.alloca->getAllocatedType()) {
        for (const auto &[block, value] : slot.last_stores)
            at_end_[block] = value;
    }

    void replace_loads() {
        for (llvm::LoadInst *load : slot_.open_loads)
            add_live(load->getParent());
        for (std::size_t i = 0; i < live_.size(); ++i)
            for (BasicBlock *before : llvm::predecessors(live_[i]))
                if (reachable_.contains(before) && !at_end_.contains(before))
                    add_live(before);
        for (BasicBlock *block : live_)
            if (block->hasNPredecessorsOrMore(2))
                at_start_[block] = add_phi(block);
        for (llvm::PHINode *phi : phis_)
            for (BasicBlock *before : llvm::predecessors(phi->getParent()))
                phi->addIncoming(at_end(before), before);
        std::vector<std::pair<llvm::LoadInst *, llvm::TrackingVH<Value>>> values;
        for (llvm::LoadInst *load : slot_.open_loads) // each may be the value of another one
            values.emplace_back(load, at_start(load->getParent()));
        for (const auto &[load, value] : values)
            load->replaceAllUsesWith(value);
        drop_needless_phis();
    }

  private:
    void add_live(BasicBlock *block) {
        if (at_start_.try_emplace(block, nullptr).second)
            live_.push_back(block);
    }

    llvm::PHINode *add_phi(BasicBlock *block) {
        auto *phi = llvm::PHINode::Create(type_, 2, slot_.alloca->getName());
        phi->insertBefore(*block, block->begin());
        phis_.push_back(phi);
        own_.insert(phi);
        return phi;
    }

    /// Along single predecessors to a phi, a store, or the start of the function.
    Value *at_start(BasicBlock *block) {
        llvm::SmallVector<BasicBlock *, 16> passed;
        Value *found = nullptr;
        while (!found) {
            if ((found = at_start_.lookup(block)))
                break;
            passed.push_back(block);
            BasicBlock *before = block->getSinglePredecessor();
            if (!before || !reachable_.contains(before))
                found = llvm::UndefValue::get(type_);
            else if ((found = at_end_.lookup(before)) == nullptr)
                block = before;
        }
        for (BasicBlock *one : passed)
            at_start_[one] = found;
        return found;
    }

    Value *at_end(BasicBlock *block) {
        if (!reachable_.contains(block))
            return llvm::UndefValue::get(type_);
        Value *stored = at_end_.lookup(block);
        return stored ? stored : at_start(block);
    }

    /// The one value beside itself that a phi is; null if there are several.
    Value *single_value(const llvm::PHINode &phi) const {
        Value *single = nullptr;
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
            Value *incoming = phi.getIncomingValue(i);
            if (incoming == &phi || incoming == single ||
                !reachable_.contains(phi.getIncomingBlock(i)))
                continue;
            if (single)
                return nullptr;
            single = incoming;
        }
        return single ? single : llvm::UndefValue::get(type_);
    }

    void drop_needless_phis() {
        std::vector<llvm::PHINode *> work = phis_;
        while (!work.empty()) {
            llvm::PHINode *phi = work.back();
            work.pop_back();
            Value *value = own_.contains(phi) ? single_value(*phi) : nullptr;
            if (!value)
                continue;
            for (llvm::User *user : phi->users())
                if (auto *other = llvm::dyn_cast<llvm::PHINode>(user); other && other != phi)
                    work.push_back(other);
            phi->replaceAllUsesWith(value);
            own_.erase(phi);
            phi->eraseFromParent();
        }
    }

    Slot &slot_;
    const llvm::DenseSet<const BasicBlock *> &reachable_;
    llvm::Type *type_;
    llvm::DenseMap<BasicBlock *, Value *> at_end_;   ///< of the basic blocks that store
    llvm::DenseMap<BasicBlock *, Value *> at_start_; ///< of those in `live_`; null: not known yet
    std::vector<BasicBlock *> live_;                 ///< the slot is live where they start
    std::vector<llvm::PHINode *> phis_;
    llvm::DenseSet<const llvm::PHINode *> own_; ///< of phis_ those that are left
};

/// The number of basic blocks between the first access and the last one, in their order.
unsigned lifetime(const llvm::AllocaInst &alloca, const BlockOrder &order) {
    unsigned first = ~0u, last = 0;
    for (const llvm::User *user : alloca.users()) {
        const unsigned number = order.number(llvm::cast<llvm::Instruction>(user)->getParent());
        first = std::min(first, number);
        last = std::max(last, number);
    }
    return first < last ? last - first : 0;
}

/// Makes a slot stay in memory: SROA leaves volatile accesses alone. Masks become bytes, because
/// without masks in the processor LLVM packs and unpacks bits for a mask in memory.
void keep(llvm::AllocaInst &alloca) {
    auto *mask = llvm::dyn_cast<llvm::FixedVectorType>(alloca.getAllocatedType());
    const bool widens = mask && mask->getElementType()->isIntegerTy(1);
    llvm::IRBuilder<> b(&alloca);
    llvm::Type *type =
        widens ? llvm::FixedVectorType::get(b.getInt8Ty(), mask->getNumElements()) : nullptr;
    llvm::AllocaInst *slot = widens ? b.CreateAlloca(type) : &alloca;
    for (llvm::User *user : llvm::make_early_inc_range(alloca.users())) {
        auto *access = llvm::cast<llvm::Instruction>(user);
        if (!widens) {
            if (auto *store = llvm::dyn_cast<llvm::StoreInst>(access))
                store->setVolatile(true);
            else
                llvm::cast<llvm::LoadInst>(access)->setVolatile(true);
            continue;
        }
        b.SetInsertPoint(access);
        if (auto *store = llvm::dyn_cast<llvm::StoreInst>(access))
            b.CreateStore(b.CreateSExt(store->getValueOperand(), type), slot, /*isVolatile=*/true);
        else
            access->replaceAllUsesWith(
                mask_of_bytes(b, b.CreateLoad(type, slot, /*isVolatile=*/true)));
        access->eraseFromParent();
    }
    if (widens)
        alloca.eraseFromParent();
}

class Promotion {
  public:
    explicit Promotion(llvm::Function &function) : function_(function) {
        if (has_many_basic_blocks(function))
            keep_long_lived();
        for (llvm::Instruction &i : function.getEntryBlock())
            if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
                alloca && is_promotable(*alloca)) {
                numbers_[alloca] = slots_.size();
                slots_.emplace_back().alloca = alloca;
            }
    }

    bool run() {
        if (slots_.empty())
            return false;
        llvm::DenseSet<const BasicBlock *> reachable;
        for (const BasicBlock *block : llvm::depth_first(&function_))
            reachable.insert(block);
        for (BasicBlock &block : function_)
            scan(block);
        for (Slot &slot : slots_)
            SlotValues(slot, reachable).replace_loads();
        for (llvm::Instruction *access : accesses_)
            access->eraseFromParent();
        for (const Slot &slot : slots_)
            slot.alloca->eraseFromParent();
        return true;
    }

  private:
    /// Values would be live in as many basic blocks (jit/long_lived.h), and to find them takes time
    /// in proportion to that.
    void keep_long_lived() {
        const BlockOrder order(function_);
        for (llvm::Instruction &i : llvm::make_early_inc_range(function_.getEntryBlock()))
            if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&i);
                alloca && is_promotable(*alloca) && lifetime(*alloca, order) > kLongLifetime)
                keep(*alloca);
    }

    /// Connects loads with stores and earlier loads of the same basic block.
    void scan(BasicBlock &block) {
        llvm::DenseMap<unsigned, Value *> now; // by slot
        std::vector<unsigned> stored;
        for (llvm::Instruction &i : block) {
            const auto found = numbers_.find(llvm::getLoadStorePointerOperand(&i));
            if (found == numbers_.end())
                continue;
            accesses_.push_back(&i);
            Value *&value = now[found->second];
            if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
                value = store->getValueOperand();
                stored.push_back(found->second);
            } else if (value) {
                i.replaceAllUsesWith(value);
            } else {
                value = &i;
                slots_[found->second].open_loads.push_back(llvm::cast<llvm::LoadInst>(&i));
            }
        }
        llvm::DenseSet<unsigned> known;
        for (const unsigned slot : stored)
            if (known.insert(slot).second)
                slots_[slot].last_stores.emplace_back(&block, now[slot]);
    }

    llvm::Function &function_;
    std::vector<Slot> slots_;
    llvm::DenseMap<const Value *, unsigned> numbers_; ///< by alloca
    std::vector<llvm::Instruction *> accesses_;
};

} // namespace

llvm::PreservedAnalyses PromoteSlotsPass::run(llvm::Function &function,
                                              llvm::FunctionAnalysisManager &) {
    return flow_kept(Promotion(function).run());
}

} // namespace softcuda::jit
