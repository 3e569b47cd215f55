// find_min_max.cpp -- traces each lane of a select back to the origin of its operands.
#include "jit/find_min_max.h"

#include "jit/flow_kept.h"

#include <llvm/IR/PatternMatch.h>

#include <map>
#include <optional>

namespace softcuda::jit {

namespace {

using llvm::Value;

/// Lane `lane` of a vector that is not a shuffle of other vectors.
struct Origin {
    const Value *vector = nullptr;
    unsigned lane = 0;
    friend bool operator==(const Origin &, const Origin &) = default;
};

enum class Kind : std::uint8_t { Keep, Lower, Higher };

/// A vector whose lanes are the minimum or maximum of `first` and `second`, or a lane of `rest`. If
/// `turned`, an i1, is true, minimum and maximum are exchanged.
struct MinMax {
    Value *first = nullptr, *second = nullptr, *rest = nullptr;
    Value *turned = nullptr;
    bool with_sign = false;
    llvm::SmallVector<Kind, 32> kinds;

    [[nodiscard]] bool complete() const { return !llvm::is_contained(kinds, Kind::Keep); }
};

unsigned lanes_of(const Value *vector) {
    return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

/// The source of lane `lane` of a shuffle; false for an undefined lane.
bool follow(const llvm::ShuffleVectorInst &shuffle, const Value *&vector, unsigned &lane) {
    const int from = shuffle.getMaskValue(lane);
    if (from < 0)
        return false;
    const unsigned count = lanes_of(shuffle.getOperand(0));
    vector = shuffle.getOperand(static_cast<unsigned>(from) < count ? 0 : 1);
    lane = static_cast<unsigned>(from) % count;
    return true;
}

/// The i1 that is in all lanes, or null.
Value *splat_of(Value *mask) {
    using namespace llvm::PatternMatch;
    Value *scalar = nullptr;
    const bool is = match(mask, m_Shuffle(m_InsertElt(m_Value(), m_Value(scalar), m_ZeroInt()),
                                          m_Value(), m_ZeroMask()));
    return is ? scalar : nullptr;
}

/// The condition of a lane: never, or the comparison's lane `lane`, or its negation.
struct Condition {
    const llvm::ICmpInst *comparison = nullptr; ///< null: never
    unsigned lane = 0;
    bool contrary = false;
    Value *turned = nullptr; ///< i1: if true, the negation of the above
};

std::optional<bool> constant_lane(const Value *mask, unsigned lane) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
    const llvm::Constant *element = constant ? constant->getAggregateElement(lane) : nullptr;
    const auto *bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(element);
    return bit ? std::optional(bit->isOne()) : std::nullopt;
}

/// Empty if the mask has another form.
std::optional<Condition> find_condition(const Value *mask, unsigned lane) {
    Condition found;
    bool masked = true; // a lane that is false here is false in the result
    for (unsigned steps = 0; steps < 8; ++steps) {
        if (const auto known = constant_lane(mask, lane))
            return !*known && masked ? std::optional(Condition{}) : std::nullopt;
        if (const auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(mask)) {
            if (!follow(*shuffle, mask, lane))
                return std::nullopt;
            continue;
        }
        if (const auto *comparison = llvm::dyn_cast<llvm::ICmpInst>(mask)) {
            found.comparison = comparison;
            found.lane = lane;
            return found;
        }
        const auto *logic = llvm::dyn_cast<llvm::BinaryOperator>(mask);
        if (!logic)
            return std::nullopt;
        const Value *next = nullptr;
        for (unsigned side = 0; side < 2 && !next; ++side) {
            Value *other = logic->getOperand(side);
            const std::optional<bool> known = constant_lane(other, lane);
            if (logic->getOpcode() == llvm::Instruction::And) {
                if (!known || (!*known && !masked))
                    continue;
                if (!*known)
                    return Condition{};
            } else if (logic->getOpcode() == llvm::Instruction::Xor) {
                Value *scalar = known ? nullptr : splat_of(other);
                if (!known && (!scalar || found.turned))
                    continue;
                found.contrary ^= known.value_or(false);
                found.turned = scalar ? scalar : found.turned;
                masked = false;
            } else {
                return std::nullopt;
            }
            next = logic->getOperand(1 - side);
        }
        if (!next)
            return std::nullopt;
        mask = next;
    }
    return std::nullopt;
}

class Finder {
  public:
    explicit Finder(llvm::Function &function) : function_(function) {}

    bool run() {
        llvm::SmallVector<llvm::SelectInst *, 16> found;
        for (llvm::BasicBlock &block : function_)
            for (llvm::Instruction &i : block)
                if (auto *select = llvm::dyn_cast<llvm::SelectInst>(&i))
                    if (llvm::isa<llvm::FixedVectorType>(select->getCondition()->getType()) &&
                        select->getType()->getScalarType()->isIntegerTy() && find(*select))
                        found.push_back(select);
        for (llvm::SelectInst *select : found)
            replace(*select);
        return !found.empty();
    }

  private:
    [[nodiscard]] std::optional<Origin> origin(const Value *vector, unsigned lane) const {
        for (unsigned steps = 0; steps < 8; ++steps) {
            if (const auto *shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
                if (!follow(*shuffle, vector, lane))
                    return std::nullopt;
                continue;
            }
            auto known = known_.find(vector);
            if (known == known_.end() || known->second.kinds[lane] != Kind::Keep)
                return Origin{vector, lane};
            vector = known->second.rest;
        }
        return std::nullopt;
    }

    /// Which of the two compared values the select takes.
    std::optional<Kind> kind_of(const llvm::SelectInst &select, unsigned lane,
                                const Condition &condition) const {
        const auto yes = origin(select.getTrueValue(), lane);
        const auto no = origin(select.getFalseValue(), lane);
        const auto left = origin(condition.comparison->getOperand(0), condition.lane);
        const auto right = origin(condition.comparison->getOperand(1), condition.lane);
        if (!yes || !no || !left || !right ||
            !((*yes == *left && *no == *right) || (*yes == *right && *no == *left)))
            return std::nullopt;
        const llvm::CmpInst::Predicate predicate = condition.comparison->getPredicate();
        const bool greater = llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate);
        const bool takes_higher = greater == (*yes == *left);
        return takes_higher != condition.contrary ? Kind::Higher : Kind::Lower;
    }

    /// Records the form of the select; true if it is complete.
    bool find(llvm::SelectInst &select) {
        MinMax made{.first = select.getTrueValue(),
                    .second = select.getFalseValue(),
                    .rest = select.getFalseValue(),
                    .turned = nullptr,
                    .with_sign = false,
                    .kinds = {}};
        const llvm::ICmpInst *comparison = nullptr;
        for (unsigned lane = 0; lane < lanes_of(&select); ++lane) {
            const auto condition = find_condition(select.getCondition(), lane);
            if (!condition)
                return false;
            Kind kind = Kind::Keep;
            if (condition->comparison) {
                const bool other = comparison && (comparison != condition->comparison ||
                                                  made.turned != condition->turned);
                const auto found = kind_of(select, lane, *condition);
                if (!found || other || !condition->comparison->isRelational())
                    return false;
                comparison = condition->comparison;
                made.turned = condition->turned;
                kind = *found;
            }
            made.kinds.push_back(kind);
        }
        if (!comparison)
            return false;
        made.with_sign = comparison->isSigned();
        join(select, made);
        return known_.emplace(&select, std::move(made)).first->second.complete();
    }

    /// If the rest is such a vector of the same pairs, merges the two.
    void join(const llvm::SelectInst &select, MinMax &made) const {
        auto before = known_.find(made.rest);
        if (before == known_.end() || before->second.turned != made.turned ||
            before->second.with_sign != made.with_sign)
            return;
        const MinMax &other = before->second;
        for (unsigned lane = 0; lane < made.kinds.size(); ++lane) {
            if (made.kinds[lane] == Kind::Keep)
                continue;
            const auto a = origin(select.getTrueValue(), lane);
            const auto b = origin(select.getFalseValue(), lane);
            const auto first = origin(other.first, lane), second = origin(other.second, lane);
            if (!first || !second || !((a == first && b == second) || (a == second && b == first)))
                return;
        }
        made.first = other.first;
        made.second = other.second;
        made.rest = other.rest;
        for (unsigned lane = 0; lane < made.kinds.size(); ++lane)
            if (made.kinds[lane] == Kind::Keep)
                made.kinds[lane] = other.kinds[lane];
    }

    void replace(llvm::SelectInst &select) {
        const MinMax &made = known_.at(&select);
        llvm::IRBuilder<> b(&select);
        llvm::SmallVector<llvm::Constant *, 32> higher;
        for (Kind kind : made.kinds)
            higher.push_back(b.getInt1(kind == Kind::Higher));
        Value *low =
            b.CreateBinaryIntrinsic(made.with_sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin,
                                    made.first, made.second);
        Value *high =
            b.CreateBinaryIntrinsic(made.with_sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                    made.first, made.second);
        Value *mask = llvm::ConstantVector::get(higher);
        if (made.turned)
            mask = b.CreateXor(mask, b.CreateVectorSplat(lanes_of(&select), made.turned));
        select.replaceAllUsesWith(b.CreateSelect(mask, high, low));
    }

    llvm::Function &function_;
    std::map<const Value *, MinMax> known_;
};

} // namespace

llvm::PreservedAnalyses FindMinMaxPass::run(llvm::Function &function,
                                            llvm::FunctionAnalysisManager &) {
    return flow_kept(Finder(function).run());
}

} // namespace softcuda::jit
