// join_loads.cpp -- finds loads and stores with one base and adjacent offsets.
#include "warp/join_loads.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <optional>

namespace softcuda::warp {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Value;
using Accesses = std::vector<const Instruction *>;

constexpr unsigned kMostLaneBytes = 16; ///< of a lane
constexpr unsigned kMostParts = 4;      ///< elements of a structure
/// A gather of two elements in hardware that gathers fast takes less time than single loads.
constexpr unsigned kLeastBytes = 8, kLeastBytesIfFast = 16;
constexpr unsigned kWord =
    4; ///< bytes; a gather of bytes or halves is one of the words around them
constexpr unsigned kMostEqualityDepth = 6; ///< maximum depth of are_equal()
constexpr std::size_t kMostFamilies = 16;  ///< that a load is compared with

/// Operations of addresses, whose attributes are their types alone.
bool is_of_addresses(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::MulWide:
    case Opcode::Shl:
    case Opcode::Convert:
        return !ir::is_floating(i.attributes.type) && !ir::is_floating(i.attributes.source_type) &&
               !i.attributes.saturate;
    default:
        return false;
    }
}

/// Whether two values are the same one, or computed by the same operations from the same values.
bool are_equal(const Value *a, const Value *b, unsigned depth) {
    if (a == b)
        return true;
    const Instruction *x = a->definition, *y = b->definition;
    return x && y && depth > 0 && x->opcode == y->opcode && is_of_addresses(*x) &&
           is_of_addresses(*y) && x->attributes.type == y->attributes.type &&
           x->attributes.source_type == y->attributes.source_type && a->type == b->type &&
           std::ranges::equal(x->operands, y->operands, [&](const Value *p, const Value *q) {
               return are_equal(p, q, depth - 1);
           });
}

/// The register type of the value that is loaded or stored.
ir::Type type_of(const Instruction &access) {
    return access.is(Opcode::Load) ? access.result()->type : access.operand(1)->type;
}

/// Loads, or stores, with equal bases, in the order of the program.
struct LoadFamily {
    Accesses members;
    Accesses stores; ///< after the first load, in the same structures

    [[nodiscard]] bool takes(const Instruction &access) const {
        const ir::Attributes &mine = members.front()->attributes, &other = access.attributes;
        return mine.space == other.space && mine.type == other.type &&
               mine.invariant == other.invariant && type_of(*members.front()) == type_of(access) &&
               are_equal(members.front()->operand(0), access.operand(0), kMostEqualityDepth);
    }
};

class Joiner {
  public:
    explicit Joiner(KernelPlan &plan)
        : plan_(plan), least_bytes_(plan.machine.fast_gather ? kLeastBytesIfFast : kLeastBytes) {}

    /// Joins the accesses of basic blocks that all lanes run which run the first one, in this
    /// order.
    void join(std::span<const ir::Block *const> blocks) {
        for (const ir::Block *block : blocks) {
            add(*block);
            close_stores();
        }
        close_loads();
    }

  private:
    void add(const ir::Block &block) {
        for (const Instruction *i : block.instructions) {
            if (is_store(*i)) {
                if (!stores_.members.empty() && !continues(*i))
                    close_stores();
                stores_.members.push_back(i);
            } else if (hinders_stores(*i) && !is_apart(stores_.members, *i)) {
                close_stores();
            }
            if (ends_loads(*i))
                close_loads(*i);
            else if (is_load(*i))
                add(*i);
        }
    }

    // Later loads must not be made before these.
    [[nodiscard]] static bool ends_loads(const Instruction &i) {
        return ir::info(i.opcode).writes || ir::info(i.opcode).convergent ||
               i.attributes.order != ir::Order::Weak;
    }

    // Earlier stores must not be made after these.
    [[nodiscard]] static bool hinders_stores(const Instruction &i) {
        const bool elsewhere = i.is(Opcode::Load) && is_private_space(i.attributes.space);
        return ends_loads(i) ||
               (ir::info(i.opcode).reads && !elsewhere && !i.is(Opcode::LoadParam));
    }

    // Memory that no pointer to global memory leads to.
    [[nodiscard]] static bool is_private_space(ir::Space space) {
        return space == ir::Space::Shared || space == ir::Space::Local || space == ir::Space::Param;
    }

    // The local memory of a lane may be interleaved with that of other lanes.
    [[nodiscard]] bool is_plain(const Instruction &i) const {
        if (i.attributes.order != ir::Order::Weak || i.attributes.vector > 1 ||
            i.attributes.space == ir::Space::Local)
            return false;
        const AccessPlan &made = plan_.accesses.at(&i);
        return made.masked == made.full && !made.shape.divided;
    }

    [[nodiscard]] bool is_load(const Instruction &i) const {
        if (!i.is(Opcode::Load) || !is_plain(i) ||
            (i.attributes.space == ir::Space::Shared && plan_.machine.narrow_windows))
            return false;
        return is_lane_by_lane(i) || is_strided(i);
    }

    [[nodiscard]] bool is_store(const Instruction &i) const {
        return i.is(Opcode::Store) && is_plain(i) && i.attributes.space == ir::Space::Global &&
               (is_lane_by_lane(i) || is_strided(i));
    }

    [[nodiscard]] bool is_lane_by_lane(const Instruction &i) const {
        const AccessPlan &made = plan_.accesses.at(&i);
        return made.full == AccessMethod::Tested || made.full == AccessMethod::Scattered;
    }

    // The lanes' elements are parts of adjacent structures: together they are one row.
    [[nodiscard]] bool is_strided(const Instruction &i) const {
        const AccessPlan &made = plan_.accesses.at(&i);
        const bool has_pattern =
            made.full == AccessMethod::Windowed || made.full == AccessMethod::Scattered;
        return i.attributes.space == ir::Space::Global && has_pattern && parts(made) > 1;
    }

    /// The number of elements from one lane to the next one; 0 if it is another pattern.
    [[nodiscard]] static unsigned parts(const AccessPlan &made) {
        for (unsigned count = 2; count <= kMostParts && count * made.bytes <= kMostLaneBytes;
             ++count)
            if (is_contiguous(made.shape, count * made.bytes))
                return count;
        return 0;
    }

    /// The elements from one to the other access, in the same array of structures. Lanes access the
    /// same element only if this is a multiple of the structure's parts.
    [[nodiscard]] std::optional<std::int64_t> elements_between(const Instruction &a,
                                                               const Instruction &z) const {
        const auto is_part = [&](const Instruction &i) {
            return (i.is(Opcode::Load) || i.is(Opcode::Store)) && is_plain(i) && is_strided(i);
        };
        if (!is_part(a) || !is_part(z))
            return std::nullopt;
        const AccessPlan &one = plan_.accesses.at(&a), &other = plan_.accesses.at(&z);
        const std::int64_t distance = z.attributes.offset - a.attributes.offset;
        if (one.bytes != other.bytes || parts(one) != parts(other) || distance % one.bytes != 0 ||
            !are_equal(a.operand(0), z.operand(0), kMostEqualityDepth))
            return std::nullopt;
        return distance / one.bytes;
    }

    /// Whether an access to the structures of others is to none of their elements.
    [[nodiscard]] bool is_apart(const Accesses &others, const Instruction &access) const {
        return std::ranges::all_of(others, [&](const Instruction *other) {
            const auto distance = elements_between(*other, access);
            return distance && *distance % parts(plan_.accesses.at(&access)) != 0;
        });
    }

    // Of two stores to one place, the second one must stay the second.
    [[nodiscard]] bool continues(const Instruction &store) const {
        return stores_.takes(store) &&
               std::ranges::none_of(stores_.members, [&](const Instruction *other) {
                   const std::int64_t bytes = plan_.accesses.at(other).bytes;
                   return std::abs(other->attributes.offset - store.attributes.offset) < bytes;
               });
    }

    void add(const Instruction &load) {
        const std::size_t first = loads_.size() - std::min(loads_.size(), kMostFamilies);
        for (std::size_t f = first; f < loads_.size(); ++f)
            if (loads_[f].takes(load) && is_apart(loads_[f].stores, load)) {
                loads_[f].members.push_back(&load);
                return;
            }
        loads_.push_back({{&load}, {}});
    }

    // A store to shared or local memory changes no other memory; one to an element of a structure
    // changes none of the others.
    void close_loads(const Instruction &end) {
        const bool in_private = end.is(Opcode::Store) && end.attributes.order == ir::Order::Weak &&
                                is_private_space(end.attributes.space);
        std::erase_if(loads_, [&](LoadFamily &family) {
            const ir::Attributes &loads = family.members.front()->attributes;
            if (in_private && loads.space == ir::Space::Global)
                return false;
            if (end.is(Opcode::Store) && end.attributes.order == ir::Order::Weak && loads.invariant)
                return false;
            if (end.is(Opcode::Store) && elements_between(*family.members.front(), end)) {
                family.stores.push_back(&end);
                return false;
            }
            join(family);
            return true;
        });
    }

    void close_loads() {
        for (const LoadFamily &family : loads_)
            join(family);
        loads_.clear();
    }

    void close_stores() {
        join(stores_);
        stores_.members.clear();
    }

    void join(const LoadFamily &family) {
        const Accesses &all = family.members;
        if (all.size() < 2)
            return;
        const AccessPlan &made = plan_.accesses.at(all.front());
        const std::int64_t bytes = made.bytes;
        const bool strided = is_strided(*all.front());
        const std::size_t most = strided ? parts(made) : kMostLaneBytes / made.bytes;
        const std::size_t least =
            strided ? most : (made.bytes < kWord ? kWord : least_bytes_) / made.bytes;
        const auto offset = [](const Instruction *access) { return access->attributes.offset; };
        Accesses sorted = all;
        std::ranges::stable_sort(sorted, {}, offset);
        const auto repeated = std::ranges::unique(sorted, {}, offset);
        sorted.erase(repeated.begin(), repeated.end());
        for (std::size_t first = 0, count = 1; first < sorted.size(); first += count) {
            for (count = 1; count < most && first + count < sorted.size() &&
                            offset(sorted[first + count]) ==
                                offset(sorted[first]) + bytes * std::int64_t(count);)
                ++count;
            if (!strided)
                count = std::bit_floor(count);
            if (count > 1 && count >= least)
                join(all, std::span(sorted).subspan(first, count));
        }
    }

    /// `members`: in the order of their offsets. The first load makes all loads, the last store all
    /// stores.
    void join(const Accesses &in_program_order, std::span<const Instruction *const> members) {
        const auto is_member = [&](const Instruction *access) {
            return std::ranges::find(members, access) != members.end();
        };
        const bool loads = members.front()->is(Opcode::Load);
        const Instruction *leader = loads
                                        ? *std::ranges::find_if(in_program_order, is_member)
                                        : *std::ranges::find_if(in_program_order.rbegin(),
                                                                in_program_order.rend(), is_member);
        AccessPlan &made = plan_.accesses.at(leader);
        made.line = plan_.accesses.at(members.front()).line; // begins at the first element
        const bool strided = is_strided(*leader);
        for (const Instruction *member : members) {
            AccessPlan &other = plan_.accesses.at(member);
            if (member == leader)
                continue;
            other.joined_by = leader;
            if (loads && member->block != leader->block)
                plan_.outlives_block[member->result()->id] = true;
            if (other.check == Check::Range)
                made.check = Check::Range;
            if (made.prefetch.target == PrefetchPlan::Target::Nothing)
                made.prefetch = other.prefetch;
        }
        made.joined.assign(members.begin(), members.end());
        made.count = static_cast<unsigned>(members.size());
        made.contiguous_warps.reset(); // is of single elements
        if (!strided)
            return;
        made.full = made.masked = AccessMethod::Contiguous;
        made.windows.clear(); // were of single elements
        made.windows_exist = false;
        made.grouped = made.shape;
        made.grouped.checked = made.grouped.divided = false;
    }

    KernelPlan &plan_;
    unsigned least_bytes_;
    std::vector<LoadFamily> loads_;
    LoadFamily
        stores_; ///< in global memory, with nothing between them that could observe their order
};

} // namespace

/// Finds the basic blocks that the same lanes run, one after another, with nothing in between that
/// writes or waits:
///
///     x = p[0];                  p[0], p[1], p[2] and p[3] are joined
///     if (x == 0)
///         ...                    no stores
///     y = p[1] + p[2] + p[3];
class BlockChains {
  public:
    explicit BlockChains(const KernelPlan &plan) : plan_(plan) {}

    /// The first block that all lanes of `block` come to later, if only few harmless ones are in
    /// between; otherwise null.
    [[nodiscard]] const ir::Block *next(const ir::Block *block) const {
        const ir::Block *meeting = plan_.post_dominators.parent(block);
        if (!meeting || !plan_.dominators.dominates(block, meeting) ||
            plan_.loops.innermost(block) != plan_.loops.innermost(meeting))
            return nullptr;
        std::vector<const ir::Block *> between;
        const auto add = [&](const ir::Block *from) {
            for (const ir::Block *to : from->successors())
                if (to != meeting && std::ranges::find(between, to) == between.end())
                    between.push_back(to);
        };
        add(block);
        for (std::size_t k = 0; k < between.size(); ++k) {
            if (k == kMostBetween || !is_harmless(*between[k]) ||
                plan_.loops.innermost(between[k]) != plan_.loops.innermost(block))
                return nullptr;
            add(between[k]);
        }
        return meeting;
    }

  private:
    static constexpr std::size_t kMostBetween = 8;

    static bool is_harmless(const ir::Block &block) {
        return std::ranges::none_of(block.instructions, [](const Instruction *i) {
            return ir::info(i->opcode).writes || ir::info(i->opcode).convergent ||
                   i->attributes.order != ir::Order::Weak;
        });
    }

    const KernelPlan &plan_;
};

// Reports and counts are of single accesses. In the tier lanes, lanes may be apart at an access.
void join_loads(KernelPlan &plan) {
    if (plan.request.watch != 0 || plan.request.counts || plan.function.debug ||
        plan.wants_short_code || plan.tier.tier == rt::Tier::Lanes)
        return;
    Joiner joiner(plan);
    const BlockChains chains(plan);
    std::vector<bool> done(plan.function.blocks.size(), false);
    for (const ir::Block *block : plan.schedule.order) {
        std::vector<const ir::Block *> chain;
        for (; block && !done[block->id]; block = chains.next(block)) {
            chain.push_back(block);
            done[block->id] = true;
        }
        joiner.join(chain);
    }
}

} // namespace softcuda::warp
