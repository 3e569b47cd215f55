// interleave_warps.cpp -- clones a loop's body instruction by instruction.
#include "jit/interleave_warps.h"

#include "jit/flow_kept.h"
#include "jit/target.h"

#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include <algorithm>
#include <map>
#include <optional>

namespace softcuda::jit {

namespace {

constexpr const char *kMark = "softcuda.warps";
constexpr unsigned kMostWarps = 4;
constexpr unsigned kMostInstructions = 1000; ///< maximum for a body afterwards
constexpr unsigned kLatency = 4;             ///< of a float operation, in cycles
constexpr unsigned kAtOnce = 2;              ///< operations that begin in one cycle
constexpr unsigned kShortChain = 24; ///< cycles of latency that the processor hides by itself

bool is_marked(const llvm::BranchInst &latch) {
    const llvm::MDNode *loop = latch.getMetadata(llvm::LLVMContext::MD_loop);
    return loop && llvm::any_of(llvm::drop_begin(loop->operands()), [](const llvm::Metadata *each) {
               const auto *property = llvm::dyn_cast<llvm::MDNode>(each);
               const auto *name = property && property->getNumOperands() > 0
                                      ? llvm::dyn_cast<llvm::MDString>(property->getOperand(0))
                                      : nullptr;
               return name && name->getString() == kMark;
           });
}

/// A loop of one basic block with constant bounds, whose counter is its only loop-carried value.
struct WarpLoop {
    llvm::PHINode *warp;
    llvm::BinaryOperator *next;
    llvm::ICmpInst *again;
    llvm::BranchInst *latch;
    std::uint64_t first, end;
};

std::optional<WarpLoop> find_loop(llvm::BasicBlock &block) {
    auto *latch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!latch || !latch->isConditional() || latch->getSuccessor(0) != &block || !is_marked(*latch))
        return std::nullopt;
    auto *warp = llvm::dyn_cast<llvm::PHINode>(&block.front());
    auto *again = llvm::dyn_cast<llvm::ICmpInst>(latch->getCondition());
    if (!warp || llvm::isa<llvm::PHINode>(warp->getNextNode()) ||
        warp->getNumIncomingValues() != 2 || !again || again->getParent() != &block ||
        !again->hasOneUse() || again->getPredicate() != llvm::ICmpInst::ICMP_ULT)
        return std::nullopt;
    auto *next = llvm::dyn_cast<llvm::BinaryOperator>(warp->getIncomingValueForBlock(&block));
    const unsigned outside = warp->getIncomingBlock(0) == &block ? 1 : 0;
    auto *first = llvm::dyn_cast<llvm::ConstantInt>(warp->getIncomingValue(outside));
    auto *limit = llvm::dyn_cast<llvm::ConstantInt>(again->getOperand(1));
    if (!next || next->getOpcode() != llvm::Instruction::Add || next->getOperand(0) != warp ||
        !llvm::PatternMatch::match(next->getOperand(1), llvm::PatternMatch::m_One()) || !first ||
        !limit || (again->getOperand(0) != warp && again->getOperand(0) != next))
        return std::nullopt;
    const std::uint64_t end = limit->getZExtValue() + (again->getOperand(0) == warp ? 1 : 0);
    if (end <= first->getZExtValue())
        return std::nullopt;
    return WarpLoop{warp, next, again, latch, first->getZExtValue(), end};
}

bool may_interleave(const llvm::Instruction &i) {
    if (llvm::isa<llvm::PHINode>(i) || i.isTerminator())
        return true; // the loop's counter
    if (const auto *load = llvm::dyn_cast<llvm::LoadInst>(&i))
        return load->isSimple();
    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i))
        return store->isSimple();
    return !i.mayReadOrWriteMemory() && !i.mayHaveSideEffects();
}

/// The processor resources that a loop's body uses.
struct Cost {
    unsigned latency = 0;    ///< cycles of the longest dependency chain
    unsigned operations = 0; ///< on vector registers
    unsigned live = 0;       ///< maximum number of vector registers for the body's values
    unsigned outside = 0;    ///< vector registers for values from outside
    unsigned instructions = 0;
};

class Estimate {
  public:
    Estimate(const llvm::BasicBlock &block, unsigned vector_bits)
        : block_(block), vector_bits_(vector_bits) {}

    Cost make() {
        std::map<const llvm::Value *, unsigned> last_use;
        unsigned number = 0;
        for (const llvm::Instruction &i : block_) {
            ++number;
            for (const llvm::Value *operand : i.operands())
                last_use[operand] = number;
            count(i);
        }
        find_live(last_use);
        return cost_;
    }

  private:
    unsigned registers(const llvm::Value *value) const {
        const auto *type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
        if (!type || llvm::isa<llvm::Constant>(value))
            return 0;
        const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
        return (bits + vector_bits_ - 1) / vector_bits_;
    }

    /// A broadcast from memory is an operand of its user.
    static bool is_broadcast(const llvm::Instruction &i) {
        return llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst>(i);
    }

    void count(const llvm::Instruction &i) {
        unsigned ready = 0;
        for (const llvm::Value *operand : i.operands())
            if (auto found = ready_.find(operand); found != ready_.end())
                ready = std::max(ready, found->second);
        const bool works = registers(&i) > 0 && !is_broadcast(i) && !llvm::isa<llvm::LoadInst>(i);
        ready_[&i] = ready + (works ? kLatency : 0);
        cost_.latency = std::max(cost_.latency, ready_[&i]);
        cost_.operations += works ? registers(&i) : 0;
        ++cost_.instructions;
    }

    void find_live(const std::map<const llvm::Value *, unsigned> &last_use) {
        for (const auto &[value, last] : last_use) {
            const auto *i = llvm::dyn_cast<llvm::Instruction>(value);
            if (i && i->getParent() == &block_)
                continue;
            // Equal rows for both halves of a warp are one register.
            const auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value);
            const bool repeats = shuffle && llvm::isa<llvm::PoisonValue>(shuffle->getOperand(1));
            cost_.outside += repeats ? std::min(registers(value), registers(shuffle->getOperand(0)))
                                     : registers(value);
        }
        std::multimap<unsigned, unsigned> ends; // ends of live ranges: registers
        unsigned number = 0, live = 0;
        for (const llvm::Instruction &i : block_) {
            for (++number; !ends.empty() && ends.begin()->first <= number; ends.erase(ends.begin()))
                live -= ends.begin()->second;
            auto last = last_use.find(&i);
            if (registers(&i) == 0 || is_broadcast(i) || last == last_use.end())
                continue;
            live += registers(&i);
            ends.emplace(last->second, registers(&i));
            cost_.live = std::max(cost_.live, live);
        }
    }

    const llvm::BasicBlock &block_;
    unsigned vector_bits_;
    Cost cost_;
    std::map<const llvm::Value *, unsigned> ready_; ///< cycle
};

unsigned choose_warps(const WarpLoop &loop, const Target &target) {
    const llvm::BasicBlock &block = *loop.warp->getParent();
    if (!llvm::all_of(block, may_interleave))
        return 1;
    const Cost cost = Estimate(block, target.vector_bits()).make();
    const unsigned registers = target.has_avx512() ? 32 : 16;
    if (cost.latency < kShortChain)
        return 1;
    unsigned warps = 1;
    while (warps < kMostWarps && warps * cost.operations < cost.latency * kAtOnce &&
           (loop.end - loop.first) % (std::uint64_t{warps} * 2) == 0 &&
           2 * warps * cost.live + cost.outside < registers &&
           2 * warps * cost.instructions <= kMostInstructions)
        warps *= 2;
    return warps;
}

void interleave(const WarpLoop &loop, unsigned warps) {
    llvm::BasicBlock &block = *loop.warp->getParent();
    llvm::IRBuilder<> b(loop.warp->getNextNode());
    std::vector<llvm::ValueToValueMapTy> maps(warps);
    llvm::Type *type = loop.warp->getType();
    std::vector<llvm::Instruction *> body;
    for (llvm::Instruction &i : block)
        if (&i != loop.warp && &i != loop.next && &i != loop.again && &i != loop.latch)
            body.push_back(&i);
    for (unsigned k = 1; k < warps; ++k)
        maps[k][loop.warp] =
            b.CreateAdd(loop.warp, llvm::ConstantInt::get(type, k), "", true, true);
    for (llvm::Instruction *i : body) {
        llvm::Instruction *last = i;
        for (unsigned k = 1; k < warps; ++k) {
            llvm::Instruction *copy = i->clone();
            copy->insertAfter(last);
            llvm::RemapInstruction(copy, maps[k],
                                   llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
            maps[k][i] = last = copy;
        }
        i->replaceUsesOutsideBlock(last, &block);
    }
    b.SetInsertPoint(loop.latch);
    llvm::Value *next = b.CreateAdd(loop.warp, llvm::ConstantInt::get(type, warps), "", true, true);
    loop.warp->setIncomingValueForBlock(&block, next);
    loop.latch->setCondition(b.CreateICmpULT(next, llvm::ConstantInt::get(type, loop.end)));
    loop.again->eraseFromParent();
    loop.next->eraseFromParent();
}

} // namespace

void mark_warp_loop(llvm::BranchInst &latch) {
    llvm::LLVMContext &context = latch.getContext();
    llvm::MDNode *property = llvm::MDNode::get(context, {llvm::MDString::get(context, kMark)});
    llvm::MDNode *loop = llvm::MDNode::getDistinct(context, {nullptr, property});
    loop->replaceOperandWith(0, loop);
    latch.setMetadata(llvm::LLVMContext::MD_loop, loop);
}

llvm::PreservedAnalyses InterleaveWarpsPass::run(llvm::Function &function,
                                                 llvm::FunctionAnalysisManager &) {
    bool changed = false;
    for (llvm::BasicBlock &block : function) {
        const std::optional<WarpLoop> loop = find_loop(block);
        if (!loop || !loop->next->hasNUses(loop->again->getOperand(0) == loop->next ? 2 : 1))
            continue;
        if (const unsigned warps = choose_warps(*loop, *target_); warps > 1) {
            interleave(*loop, warps);
            changed = true;
        }
    }
    return flow_kept(changed);
}

} // namespace softcuda::jit
