// block_groups.cpp -- compares how addresses grow from block to block and from row to row, and
// counts the streams of memory that the rows of a block are.
#include "warp/block_groups.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

namespace softcuda::warp {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Special;
using ir::Value;

/// The bytes of one row that a group covers: about a page, which a prefetcher does not leave.
constexpr std::int64_t kRowBytes = 4096;
constexpr std::int64_t kLineBytes = 64;
/// A block whose rows are longer is read quickly by itself.
constexpr std::int64_t kLongRow = 1024;
constexpr std::int64_t kMostBlocks = 64;
/// Up to so many streams the order one is fast.
constexpr std::int64_t kManyStreams = 24;
/// Longer chains of operations are no address of an array.
constexpr unsigned kDeepest = 200;

/// How much a value grows if an index grows by one.
struct Growth {
    enum class Kind : std::uint8_t {
        Unknown, ///< not yet: in a loop, the value of the iteration before
        Constant,
        Uniform, ///< by the same amount for all threads, for example by the width of an array
        Irregular,
    };
    Kind kind = Kind::Unknown;
    std::int64_t amount = 0; ///< if it is constant

    static Growth constant(std::int64_t amount) { return {Kind::Constant, amount}; }
    static Growth uniform() { return {Kind::Uniform, 0}; }
    static Growth irregular() { return {Kind::Irregular, 0}; }
    [[nodiscard]] bool is(Kind other) const { return kind == other; }
    [[nodiscard]] bool none() const { return is(Kind::Constant) && amount == 0; }
    friend bool operator==(const Growth &, const Growth &) = default;
};

std::int64_t wrapping(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

Growth sum(const Growth &a, const Growth &b) {
    if (a.is(Growth::Kind::Constant) && b.is(Growth::Kind::Constant))
        return Growth::constant(
            wrapping(static_cast<std::uint64_t>(a.amount) + static_cast<std::uint64_t>(b.amount)));
    return Growth{std::max(a.kind, b.kind), 0}.is(Growth::Kind::Constant)
               ? Growth{} // one is not known yet
               : Growth{std::max(a.kind, b.kind), 0};
}

Growth times(const Growth &a, std::uint64_t factor) {
    if (factor == 0)
        return Growth::constant(0);
    if (!a.is(Growth::Kind::Constant))
        return a;
    return Growth::constant(wrapping(static_cast<std::uint64_t>(a.amount) * factor));
}

/// One of two values: of a border's index and the usual one, the usual one counts.
Growth either(const Growth &a, const Growth &b) {
    if (a == b || b.none() || b.is(Growth::Kind::Unknown))
        return a;
    return a.none() || a.is(Growth::Kind::Unknown) ? b : Growth::irregular();
}

/// An index of the launch: blockIdx.x, or the row of a thread in its block.
enum class Index : std::uint8_t { Block, Row };

class Growths {
  public:
    Growths(const KernelPlan &plan, Index index)
        : plan_(plan), index_(index), known_(plan.function.value_count()),
          visited_(plan.function.value_count(), false) {}

    Growth of(const Value *value) {
        if (value->constant || !value->definition)
            return Growth::constant(0);
        if (visited_[value->id])
            return known_[value->id];
        if (depth_ == kDeepest)
            return Growth::irregular();
        visited_[value->id] = true;
        ++depth_;
        const Growth found = compute(*value->definition);
        --depth_;
        return known_[value->id] = found;
    }

  private:
    Growth compute(const Instruction &i) {
        switch (i.opcode) {
        case Opcode::Special:
            return Growth::constant(of_special(i.attributes.special));
        case Opcode::Add:
        case Opcode::Or:
        case Opcode::Xor:
            return sum(of(i.operand(0)), of(i.operand(1)));
        case Opcode::Sub:
            return sum(of(i.operand(0)), times(of(i.operand(1)), ~std::uint64_t{0}));
        case Opcode::Neg:
        case Opcode::Not:
            return times(of(i.operand(0)), ~std::uint64_t{0});
        case Opcode::Shl:
            return i.operand(1)->constant && i.operand(1)->bits < 64
                       ? times(of(i.operand(0)), std::uint64_t{1} << i.operand(1)->bits)
                       : of_others(i);
        case Opcode::Mul:
        case Opcode::MulWide:
        case Opcode::Mul24:
            return of_product(i);
        case Opcode::Convert:
        case Opcode::Bitcast:
        case Opcode::ToGeneric:
        case Opcode::FromGeneric:
            return of(i.operand(0));
        case Opcode::Min:
        case Opcode::Max:
            return either(of(i.operand(0)), of(i.operand(1)));
        case Opcode::Select:
            return either(of(i.operand(1)), of(i.operand(2)));
        case Opcode::Rem: // of an index that wraps at the border
        case Opcode::And:
            return of(i.operand(1)).none() ? of(i.operand(0)) : of_others(i);
        case Opcode::Phi:
            return of_phi(i);
        default:
            return of_others(i);
        }
    }

    [[nodiscard]] std::int64_t of_special(Special special) const {
        const auto &block = plan_.launch.block;
        if (index_ == Index::Block)
            return special == Special::CtaidX;
        return special == Special::TidY || special == Special::WarpId ||
               (special == Special::TidZ && block[1] == 1);
    }

    Growth of_product(const Instruction &i) {
        const Value *a = i.operand(0), *b = i.operand(1);
        if (a->constant)
            std::swap(a, b);
        if (b->constant) {
            const unsigned above = 64 - ir::bits(b->type);
            const auto factor = static_cast<std::int64_t>(b->bits << above) >> above;
            return times(of(a), static_cast<std::uint64_t>(factor));
        }
        const Growth first = of(a), second = of(b);
        if (first.none() && second.none())
            return first;
        const bool linear = (first.none() && !second.is(Growth::Kind::Irregular)) ||
                            (second.none() && !first.is(Growth::Kind::Irregular));
        return linear ? Growth::uniform() : Growth::irregular();
    }

    Growth of_phi(const Instruction &i) {
        Growth all;
        for (const Value *operand : i.operands)
            all = either(all, of(operand));
        return all;
    }

    Growth of_others(const Instruction &i) {
        for (const Value *operand : i.operands)
            if (!of(operand).none())
                return Growth::irregular();
        return Growth::constant(0);
    }

    const KernelPlan &plan_;
    Index index_;
    std::vector<Growth> known_; ///< by Value::id
    std::vector<bool> visited_;
    unsigned depth_ = 0;
};

bool is_global(const Instruction &i) {
    return (i.is(Opcode::Load) || i.is(Opcode::Store)) &&
           (i.attributes.space == ir::Space::Global || i.attributes.space == ir::Space::Generic);
}

/// Whether another order of the blocks may be observed: in shared memory, in the order of prints
/// and atomics, or by threads that wait.
bool depends_on_order(const Instruction &i) {
    const ir::OpcodeInfo &facts = ir::info(i.opcode);
    switch (i.opcode) {
    case Opcode::Load:
    case Opcode::Store:
        return i.attributes.order != ir::Order::Weak || i.attributes.async ||
               i.attributes.space == ir::Space::Shared;
    case Opcode::SymbolAddress:
    case Opcode::FromGeneric:
        return i.attributes.space == ir::Space::Shared;
    case Opcode::TextureRead:
    case Opcode::SurfaceWrite:
    case Opcode::Trap:
    case Opcode::AssertFail:
    case Opcode::WarpBarrier:
        return false;
    default:
        return facts.writes;
    }
}

template <typename Test> bool any_of(const ir::Function &function, Test test) {
    return std::ranges::any_of(function.blocks, [&](const ir::Block *block) {
        return std::ranges::any_of(block->instructions,
                                   [&](const Instruction *i) { return test(*i); });
    });
}

/// The reason why the blocks run one by one; null if there is none.
const char *find_obstacle(const KernelPlan &plan) {
    const TierRequest &request = plan.request;
    if (plan.tier.tier != rt::Tier::Regions)
        return "warps are fibers";
    if (request.watch != 0 || request.counts || plan.function.debug)
        return "each access is reported";
    if (!plan.launch.is_fixed())
        return "the shape of the blocks varies";
    if (plan.launch.warps() == 1 || plan.launch.block[1] * plan.launch.block[2] == 1)
        return "a block is one row";
    if (any_of(plan.function, depends_on_order))
        return "the order of the blocks may be observed";
    return nullptr;
}

/// A sum of products of values that the analysis does not look into, each with a factor.
class Polynomial {
  public:
    /// A value is 1 << 32 plus the special register, 2 << 32 plus the offset of the parameter, or
    /// 3 << 32 plus Value::id.
    using Product = std::vector<std::uint64_t>; ///< sorted
    static constexpr std::size_t kMostTerms = 24, kMostFactors = 4;

    static Polynomial of_constant(std::int64_t number) {
        Polynomial made;
        made.add_term({}, number);
        return made;
    }
    static Polynomial of_atom(std::uint64_t atom) {
        Polynomial made;
        made.add_term({atom}, 1);
        return made;
    }

    void add_term(const Product &product, std::int64_t factor) {
        const auto place = terms_.try_emplace(product, 0).first;
        place->second = wrapping(static_cast<std::uint64_t>(place->second) +
                                 static_cast<std::uint64_t>(factor));
        if (place->second == 0)
            terms_.erase(place);
    }
    void add(const Polynomial &other, std::int64_t factor) {
        for (const auto &[product, own] : other.terms_)
            add_term(product, times(own, factor));
    }
    [[nodiscard]] std::optional<Polynomial> multiplied(const Polynomial &other) const {
        Polynomial made;
        for (const auto &[a, first] : terms_)
            for (const auto &[b, second] : other.terms_) {
                Product both = a;
                both.insert(both.end(), b.begin(), b.end());
                std::ranges::sort(both);
                if (both.size() > kMostFactors)
                    return std::nullopt;
                made.add_term(both, times(first, second));
            }
        return made.is_long() ? std::nullopt : std::optional(made);
    }
    [[nodiscard]] bool is_long() const { return terms_.size() > kMostTerms; }
    /// The growth if `atom` grows by one; terms with a power of it do not count.
    [[nodiscard]] Polynomial growth(std::uint64_t atom) const {
        Polynomial made;
        for (const auto &[product, factor] : terms_)
            if (std::ranges::count(product, atom) == 1) {
                Product rest = product;
                rest.erase(std::ranges::find(rest, atom));
                made.add_term(rest, factor);
            }
        return made;
    }
    /// The number that is n times `unit`, plus less than `slack`; empty if there is none.
    [[nodiscard]] std::optional<std::int64_t> multiple_of(const Polynomial &unit,
                                                          std::int64_t slack) const {
        if (unit.terms_.empty())
            return std::nullopt;
        const auto &[product, factor] = *unit.terms_.rbegin(); // not the constant, if there is more
        const auto own = terms_.find(product);
        const std::int64_t here = own == terms_.end() ? 0 : own->second;
        const std::int64_t half = here < 0 ? -(std::abs(factor) / 2) : std::abs(factor) / 2;
        const std::int64_t count = factor == 0 ? 0 : (here + half) / factor;
        Polynomial rest = *this;
        rest.add(unit, -count);
        for (const auto &[left, amount] : rest.terms_)
            if (!left.empty() || std::abs(amount) >= slack)
                return std::nullopt;
        return count;
    }
    friend bool operator==(const Polynomial &, const Polynomial &) = default;

  private:
    static std::int64_t times(std::int64_t a, std::int64_t b) {
        return wrapping(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
    std::map<Product, std::int64_t> terms_;
};

constexpr std::uint64_t kSpecialAtom = std::uint64_t{1} << 32,
                        kParameterAtom = std::uint64_t{2} << 32,
                        kValueAtom = std::uint64_t{3} << 32;

std::uint64_t atom_of(Special special) { return kSpecialAtom + static_cast<unsigned>(special); }

/// Addresses as polynomials of what the kernel computes them from.
class Addresses {
  public:
    explicit Addresses(const KernelPlan &plan) : known_(plan.function.value_count()) {}

    const Polynomial &of(const Value *value) {
        std::optional<Polynomial> &known = known_[value->id];
        if (!known) {
            ++depth_;
            Polynomial found = compute(value);
            --depth_;
            known_[value->id] = std::move(found);
        }
        return *known_[value->id];
    }

  private:
    Polynomial compute(const Value *value) {
        const auto own = [&] { return Polynomial::of_atom(kValueAtom + value->id); };
        if (value->constant) {
            const unsigned above = 64 - ir::bits(value->type);
            return Polynomial::of_constant(static_cast<std::int64_t>(value->bits << above) >>
                                           above);
        }
        if (!value->definition || depth_ > kDeepest)
            return own();
        const Instruction &i = *value->definition;
        if (ir::is_floating(i.attributes.type))
            return own();
        switch (i.opcode) {
        case Opcode::Special:
            return Polynomial::of_atom(atom_of(i.attributes.special));
        case Opcode::LoadParam:
            return Polynomial::of_atom(kParameterAtom + value->index +
                                       (static_cast<std::uint64_t>(i.attributes.offset) << 4));
        case Opcode::Add:
        case Opcode::Or: // of disjoint bits, as compilers write sums
        case Opcode::Sub: {
            Polynomial sum = of(i.operand(0));
            sum.add(of(i.operand(1)), i.is(Opcode::Sub) ? -1 : 1);
            return sum.is_long() ? own() : sum;
        }
        case Opcode::Shl:
            if (!i.operand(1)->constant || i.operand(1)->bits > 32)
                return own();
            return *of(i.operand(0))
                        .multiplied(Polynomial::of_constant(std::int64_t{1} << i.operand(1)->bits));
        case Opcode::Mul:
        case Opcode::MulWide:
        case Opcode::Mul24:
            return of(i.operand(0)).multiplied(of(i.operand(1))).value_or(own());
        case Opcode::Convert:
        case Opcode::Bitcast:
        case Opcode::ToGeneric:
        case Opcode::FromGeneric:
            return ir::is_floating(i.attributes.source_type) ? own() : of(i.operand(0));
        default:
            return own();
        }
    }

    std::vector<std::optional<Polynomial>> known_; ///< by Value::id
    unsigned depth_ = 0;
};

/// Accesses to one array, or plane of an array, in rows at these distances from the first one's.
struct GroupFamily {
    Polynomial address, row;
    std::int64_t first = 0, last = 0;
};

class Families {
  public:
    explicit Families(const KernelPlan &plan)
        : addresses_(plan),
          row_(atom_of(plan.launch.block[1] > 1 ? Special::TidY : Special::TidZ)) {}

    void add(const Instruction &access) {
        if (all_.size() == kMostFamilies)
            return; // that is enough for any choice
        Polynomial address = addresses_.of(access.operand(0));
        address.add_term({}, access.attributes.offset);
        const Polynomial row = address.growth(row_);
        for (GroupFamily &family : all_) {
            if (family.row != row)
                continue;
            Polynomial distance = address;
            distance.add(family.address, -1);
            if (const auto rows = distance.multiple_of(row, kLongRow)) {
                family.first = std::min(family.first, *rows);
                family.last = std::max(family.last, *rows);
                return;
            }
        }
        all_.push_back({std::move(address), row});
    }

    /// The streams of memory of a block with so many rows.
    [[nodiscard]] std::int64_t streams(std::int64_t rows) const {
        std::int64_t count = 0;
        for (const GroupFamily &family : all_)
            count += rows + family.last - family.first;
        return count;
    }

  private:
    static constexpr std::size_t kMostFamilies = 64;

    Addresses addresses_;
    std::uint64_t row_;
    std::vector<GroupFamily> all_;
};

/// Accesses to global memory by their favourite order.
struct Votes {
    unsigned along = 0;     ///< continue in the next block, and are far away in the next row
    unsigned across = 0;    ///< use the lines again in the next row, and not in the next block
    unsigned repeated = 0;  ///< in loops: each warp walks through memory by itself
    std::int64_t bytes = 0; ///< the least growth from block to block of the first kind
};

Votes count_votes(const KernelPlan &plan, Families &families) {
    Growths by_block(plan, Index::Block), by_row(plan, Index::Row);
    Votes votes;
    for (const ir::Block *block : plan.function.blocks)
        for (const Instruction *i : block->instructions) {
            if (!is_global(*i))
                continue;
            votes.repeated += plan.loops.innermost(block) >= 0;
            const Growth next = by_block.of(i->operand(0)), below = by_row.of(i->operand(0));
            const std::int64_t step = std::abs(next.amount);
            const bool constant_row = below.is(Growth::Kind::Constant);
            const bool near_block = next.is(Growth::Kind::Constant) && step <= kLongRow;
            if (constant_row && std::abs(below.amount) < kLineBytes && !next.none())
                ++votes.across;
            else if (near_block && step > 0 && !(constant_row && std::abs(below.amount) <= step)) {
                ++votes.along;
                families.add(*i);
                votes.bytes = votes.bytes == 0 ? step : std::min(votes.bytes, step);
            }
        }
    return votes;
}

std::string count_text(std::int64_t count, const char *what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::uint32_t blocks_for(std::int64_t bytes) {
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(kRowBytes / std::max<std::int64_t>(bytes, 1), 2, kMostBlocks));
}

} // namespace

void plan_block_groups(KernelPlan &plan) {
    BlockGroups &groups = plan.groups;
    if (const char *obstacle = find_obstacle(plan)) {
        groups.reason = obstacle;
        return;
    }
    Families families(plan);
    const Votes votes = count_votes(plan, families);
    const std::int64_t streams =
        families.streams(std::int64_t{plan.launch.block[1]} * plan.launch.block[2]);
    groups.reason = count_text(streams, "stream") + ", " + std::to_string(votes.across) +
                    " across rows, " + std::to_string(votes.repeated) + " in loops";
    const bool may_gain =
        streams > kManyStreams && votes.along > votes.across && votes.repeated == 0;
    groups.order = plan.request.order.value_or(may_gain ? BlockOrder::Rows : BlockOrder::One);
    if (plan.request.order)
        groups.reason += ", as requested";
    if (groups.order == BlockOrder::One)
        return;
    groups.blocks = blocks_for(votes.bytes);
    groups.row_warps = std::max(1u, plan.launch.block[0] / analysis::kLanes);
    if (plan.launch.block[0] % analysis::kLanes != 0)
        groups.row_warps = 1;
}

std::optional<std::int64_t> growth_by_row(const KernelPlan &plan, const Value *value) {
    const Growth growth = Growths(plan, Index::Row).of(value);
    return growth.is(Growth::Kind::Constant) ? std::optional(growth.amount) : std::nullopt;
}

std::string print_block_groups(const KernelPlan &plan) {
    const BlockGroups &groups = plan.groups;
    std::string out = "kernel `" + plan.function.name + "`: " + std::string(text(groups.order));
    if (groups.order == BlockOrder::Rows)
        out += ", groups of " + std::to_string(groups.blocks) + " blocks, rows of " +
               count_text(groups.row_warps, "warp");
    return out + ": " + groups.reason + "\n";
}

std::string_view text(BlockOrder order) { return order == BlockOrder::One ? "one" : "rows"; }

bool from_text(std::string_view word, BlockOrder &out) {
    for (const BlockOrder order : {BlockOrder::One, BlockOrder::Rows})
        if (word == text(order)) {
            out = order;
            return true;
        }
    return false;
}

} // namespace softcuda::warp
