// range.cpp -- interval analysis with immediate widening: a loop variable that may grow is
// unbounded.

#include "analysis/range.h"

#include "analysis/cfg.h"
#include "ir/integer_semantics.h"
#include "support/small_grid.h"

#include <algorithm>
#include <optional>

namespace softcuda::analysis {

namespace {

using ir::Opcode;
using ir::Special;

Range full(ir::Type type) {
    switch (type) {
    case ir::Type::I1:
        return {0, 1};
    case ir::Type::I8:
        return {INT8_MIN, INT8_MAX};
    case ir::Type::I16:
        return {INT16_MIN, INT16_MAX};
    case ir::Type::I32:
        return {INT32_MIN, INT32_MAX};
    default:
        return {};
    }
}

std::int64_t sign_extended(const ir::Value &constant) {
    unsigned unused = 64 - ir::bits(constant.type);
    if (constant.type == ir::Type::I1)
        return static_cast<std::int64_t>(constant.bits & 1);
    if (unused >= 64)
        return 0;
    return static_cast<std::int64_t>(constant.bits << unused) >> unused;
}

std::optional<Special> special_of(const ir::Value *value) {
    const ir::Instruction *i = value->definition;
    return i && i->is(Opcode::Special) ? std::optional(i->attributes.special) : std::nullopt;
}

/// The dimension of a special register of three, of which `x` is the first.
std::optional<unsigned> index_from(Special special, Special x) {
    const auto distance = static_cast<unsigned>(special) - static_cast<unsigned>(x);
    return distance < 3 ? std::optional(distance) : std::nullopt;
}

class RangeFinder {
  public:
    RangeFinder(const ir::Function &function, const LaunchShape &launch)
        : function_(function), launch_(launch), ranges_(function.value_count()),
          known_(function.value_count(), false) {}

    std::vector<Range> run() {
        constexpr int kRoundsBeforeWidening = 3;
        std::vector<ir::Block *> order = ir::reverse_postorder(function_);
        bool changed = true;
        for (int round = 0; changed; ++round) {
            changed = false;
            for (const ir::Block *block : order)
                for (const ir::Instruction *i : block->instructions)
                    for (const ir::Value *result : i->results)
                        changed |=
                            update(*result, evaluate(*i, *result), round >= kRoundsBeforeWidening);
        }
        return std::move(ranges_);
    }

  private:
    bool update(const ir::Value &value, Range found, bool widen) {
        Range limit = full(value.type);
        if (found.low < limit.low || found.high > limit.high)
            found = limit;
        Range &old = ranges_[value.id];
        if (known_[value.id]) {
            found = {std::min(old.low, found.low), std::max(old.high, found.high)};
            if (widen && found.low < old.low)
                found.low = limit.low;
            if (widen && found.high > old.high)
                found.high = limit.high;
            if (found == old)
                return false;
        }
        known_[value.id] = true;
        old = found;
        return true;
    }

    Range of(const ir::Value *value) const {
        if (value->constant) {
            std::int64_t v = sign_extended(*value);
            return {v, v};
        }
        return known_[value->id] ? ranges_[value->id] : full(value->type);
    }

    std::int64_t thread_limit(unsigned dimension) const { // exclusive limit for the whole grid
        return launch_.small_grid ? std::int64_t{1} << 31
                                  : static_cast<std::int64_t>(launch_.least(dimension)) << 31;
    }

    Range special(Special special) const {
        auto dimension = [&](Special x) {
            return static_cast<unsigned>(special) - static_cast<unsigned>(x);
        };
        switch (special) {
        case Special::TidX:
        case Special::TidY:
        case Special::TidZ:
            return {0, launch_.most(dimension(Special::TidX)) - 1};
        case Special::NtidX:
        case Special::NtidY:
        case Special::NtidZ: {
            const unsigned d = dimension(Special::NtidX);
            return {launch_.least(d), launch_.most(d)};
        }
        case Special::CtaidX:
        case Special::CtaidY:
        case Special::CtaidZ: {
            const unsigned d = dimension(Special::CtaidX);
            return {0, std::max<std::int64_t>((thread_limit(d) - 1) / launch_.least(d) - 1, 0)};
        }
        case Special::NctaidX:
        case Special::NctaidY:
        case Special::NctaidZ: {
            const unsigned d = dimension(Special::NctaidX);
            return {1, std::max<std::int64_t>((thread_limit(d) - 1) / launch_.least(d), 1)};
        }
        case Special::LaneId:
            return {0, 31};
        case Special::WarpId:
            return {0, launch_.warps()};
        case Special::DynamicSharedSize:
            return {0, INT32_MAX};
        default:
            return {};
        }
    }

    Range phi(const ir::Instruction &i) const {
        Range joined{INT64_MAX, INT64_MIN};
        for (const ir::Value *operand : i.operands) {
            if (!operand->constant && !known_[operand->id])
                continue; // not reached yet
            Range r = of(operand);
            joined = {std::min(joined.low, r.low), std::max(joined.high, r.high)};
        }
        return joined.low > joined.high ? full(i.result()->type) : joined;
    }

    // blockIdx * blockDim and gridDim * blockDim, where the product of their bounds says nothing.
    std::optional<Range> threads_of_grid(const ir::Instruction &i) const {
        if (!launch_.small_grid)
            return std::nullopt;
        for (unsigned side = 0; side < 2; ++side) {
            const auto blocks = special_of(i.operand(side)),
                       extent = special_of(i.operand(1 - side));
            const auto d = extent ? index_from(*extent, Special::NtidX) : std::nullopt;
            if (!d || !blocks)
                continue;
            if (index_from(*blocks, Special::CtaidX) == d)
                return Range{0, std::int64_t{kSmallGrid} - launch_.least(*d)};
            if (index_from(*blocks, Special::NctaidX) == d)
                return Range{1, std::int64_t{kSmallGrid}};
        }
        return std::nullopt;
    }

    // Products of 32-bit bounds fit 64 bits.
    static Range product(Range a, Range b) {
        std::int64_t p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        return {*std::ranges::min_element(p), *std::ranges::max_element(p)};
    }

    Range evaluate(const ir::Instruction &i, const ir::Value &result) const {
        Range none = full(result.type);
        if (i.is(Opcode::Special))
            return special(i.attributes.special);
        if (i.is(Opcode::Phi))
            return ir::bits(result.type) <= 32 ? phi(i) : none;
        if (ir::is_float(result.type) || ir::bits(result.type) > 32)
            return none;
        if (!ir::is_whole_integer(i))
            return none;
        for (const ir::Value *operand : i.operands)
            if (ir::bits(operand->type) > 32 || ir::is_float(operand->type))
                return none;
        return arithmetic(i, none);
    }

    Range arithmetic(const ir::Instruction &i, Range none) const {
        auto a = [&] { return of(i.operand(0)); };
        auto b = [&] { return of(i.operand(1)); };
        bool by_constant = i.operands.size() == 2 && i.operand(1)->constant;
        switch (i.opcode) {
        case Opcode::Bitcast:
            return a();
        case Opcode::Add:
            return {a().low + b().low, a().high + b().high};
        case Opcode::Sub:
            return {a().low - b().high, a().high - b().low};
        case Opcode::Mul:
            return threads_of_grid(i).value_or(product(a(), b()));
        case Opcode::Min:
            if (!ir::is_signed(i.attributes.type) && !(a().non_negative() && b().non_negative()))
                return none;
            return {std::min(a().low, b().low), std::min(a().high, b().high)};
        case Opcode::Max:
            if (!ir::is_signed(i.attributes.type) && !(a().non_negative() && b().non_negative()))
                return none;
            return {std::max(a().low, b().low), std::max(a().high, b().high)};
        case Opcode::And:
            if (a().non_negative() || b().non_negative())
                return {0, std::min(a().non_negative() ? a().high : INT64_MAX,
                                    b().non_negative() ? b().high : INT64_MAX)};
            return none;
        case Opcode::Or:
        case Opcode::Xor:
            return a().non_negative() && b().non_negative() ? Range{0, none.high} : none;
        case Opcode::Shl:
            if (by_constant && b().low >= 0 && b().low < 31)
                return product(a(), {std::int64_t{1} << b().low, std::int64_t{1} << b().low});
            return none;
        case Opcode::Shr:
            if (by_constant && b().low > 0 && b().low < 32 &&
                (a().non_negative() || ir::is_signed(i.attributes.type)))
                return {a().low >> b().low, a().high >> b().low};
            if (by_constant && b().low > 0 && b().low < 32)
                return {0, static_cast<std::int64_t>(UINT32_MAX >> b().low)};
            return none;
        case Opcode::Div:
            if (by_constant && b().low > 0 && a().non_negative())
                return {a().low / b().low, a().high / b().low};
            return none;
        case Opcode::Rem:
            if (by_constant && b().low > 0 && a().non_negative())
                return {0, std::min(a().high, b().low - 1)};
            return none;
        case Opcode::Convert: {
            Range r = a();
            bool unsigned_source = !ir::is_signed(i.attributes.source_type);
            return r.non_negative() || !unsigned_source ? r : none;
        }
        case Opcode::Popc:
        case Opcode::Clz:
            return {0, 64};
        case Opcode::Select: {
            Range yes = of(i.operand(1)), no = of(i.operand(2)), which = a();
            if (which.low == which.high)
                return which.low ? yes : no;
            return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
        }
        case Opcode::Compare:
            return compared(i, none);
        default:
            return none;
        }
    }

    Range compared(const ir::Instruction &i, Range none) const {
        if (ir::is_floating(i.attributes.type))
            return none;
        Range a = of(i.operand(0)), b = of(i.operand(1));
        bool in_order = ir::is_signed(i.attributes.type) || (a.non_negative() && b.non_negative());
        auto known = [&](bool always, bool never) {
            return always ? Range{1, 1} : never ? Range{0, 0} : none;
        };
        switch (i.attributes.compare) {
        case ir::Compare::Eq:
            return known(a.low == a.high && a == b, a.high < b.low || b.high < a.low);
        case ir::Compare::Ne:
            return known(a.high < b.low || b.high < a.low, a.low == a.high && a == b);
        case ir::Compare::Lt:
            return in_order ? known(a.high < b.low, a.low >= b.high) : none;
        case ir::Compare::Le:
            return in_order ? known(a.high <= b.low, a.low > b.high) : none;
        case ir::Compare::Gt:
            return in_order ? known(a.low > b.high, a.high <= b.low) : none;
        case ir::Compare::Ge:
            return in_order ? known(a.low >= b.high, a.high < b.low) : none;
        default:
            return none;
        }
    }

    const ir::Function &function_;
    LaunchShape launch_;
    std::vector<Range> ranges_;
    std::vector<bool> known_;
};

} // namespace

std::string_view text(Extents extents) {
    constexpr std::array<std::string_view, 3> kNames = {"fixed", "rows", "any"};
    return kNames.at(static_cast<std::size_t>(extents));
}

Extents varying_extents(const std::array<std::uint32_t, 3> &block) {
    return block[0] % 32 == 0 ? Extents::WholeRows : Extents::Any;
}

std::uint32_t LaunchShape::least(unsigned dimension) const {
    if (is_fixed())
        return block.at(dimension);
    return dimension == 0 && extents == Extents::WholeRows ? 32 : 1;
}

std::uint32_t LaunchShape::most(unsigned dimension) const {
    constexpr std::uint32_t kMostPlanes = 64;
    if (is_fixed())
        return block.at(dimension);
    return dimension == 2 ? std::min(kMostPlanes, threads()) : threads();
}

std::vector<Range> find_ranges(const ir::Function &function, const LaunchShape &launch) {
    return RangeFinder(function, launch).run();
}

} // namespace softcuda::analysis
