// join_loads.cpp -- finds loads with one base and adjacent offsets.
#include "warp/join_loads.h"

#include "warp/kernel_plan.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace softcuda::warp {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Value;
using Loads = std::vector<const Instruction *>;

constexpr unsigned kMostBytes = 16; ///< of a lane
/// A gather of two elements in hardware that gathers fast takes less time than single loads.
constexpr unsigned kLeastBytes = 8, kLeastBytesIfFast = 16;
constexpr unsigned kMostOperations = 6;   ///< maximum depth of are_equal()
constexpr std::size_t kMostFamilies = 16; ///< that a load is compared with

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

/// Loads with equal bases, in the order of the program.
struct Family {
    Loads loads;

    [[nodiscard]] bool takes(const Instruction &load) const {
        const ir::Attributes &mine = loads.front()->attributes, &other = load.attributes;
        return mine.space == other.space && mine.type == other.type &&
               mine.invariant == other.invariant &&
               loads.front()->result()->type == load.result()->type &&
               are_equal(loads.front()->operand(0), load.operand(0), kMostOperations);
    }
};

class Joiner {
  public:
    explicit Joiner(KernelPlan &plan)
        : plan_(plan), least_bytes_(plan.machine.fast_gather ? kLeastBytesIfFast : kLeastBytes) {}

    void join(const ir::Block &block) {
        for (const Instruction *i : block.instructions) {
            if (ends_group(*i))
                close();
            else if (is_candidate(*i))
                add(*i);
        }
        close();
    }

  private:
    // Later loads must not be made before these.
    [[nodiscard]] static bool ends_group(const Instruction &i) {
        return ir::info(i.opcode).writes || ir::info(i.opcode).convergent ||
               i.attributes.order != ir::Order::Weak;
    }

    // The local memory of a lane may be interleaved with that of other lanes.
    [[nodiscard]] bool is_candidate(const Instruction &i) const {
        if (!i.is(Opcode::Load) || i.attributes.order != ir::Order::Weak ||
            i.attributes.vector > 1 || i.attributes.space == ir::Space::Local ||
            (i.attributes.space == ir::Space::Shared && plan_.machine.narrow_windows))
            return false;
        const AccessPlan &made = plan_.accesses.at(&i);
        const bool without_pattern = made.full == How::Tested || made.full == How::Scattered;
        return without_pattern && made.masked == made.full && !made.may_wrap &&
               (made.bytes == 4 || made.bytes == 8);
    }

    void add(const Instruction &load) {
        const std::size_t first = families_.size() - std::min(families_.size(), kMostFamilies);
        for (std::size_t f = first; f < families_.size(); ++f)
            if (families_[f].takes(load)) {
                families_[f].loads.push_back(&load);
                return;
            }
        families_.push_back({{&load}});
    }

    void close() {
        for (const Family &family : families_)
            if (family.loads.size() > 1)
                join(family.loads);
        families_.clear();
    }

    void join(const Loads &loads) {
        const std::int64_t bytes = plan_.accesses.at(loads.front()).bytes;
        const auto offset = [](const Instruction *load) { return load->attributes.offset; };
        Loads sorted = loads;
        std::ranges::stable_sort(sorted, {}, offset);
        const auto repeated = std::ranges::unique(sorted, {}, offset);
        sorted.erase(repeated.begin(), repeated.end());
        for (std::size_t first = 0, count = 1; first < sorted.size(); first += count) {
            const auto most = static_cast<std::size_t>(kMostBytes / bytes);
            for (count = 1; count < most && first + count < sorted.size() &&
                            offset(sorted[first + count]) ==
                                offset(sorted[first]) + bytes * std::int64_t(count);)
                ++count;
            count = std::bit_floor(count);
            if (count > 1 && count * static_cast<std::size_t>(bytes) >= least_bytes_)
                join(loads, std::span(sorted).subspan(first, count));
        }
    }

    /// `members`: in the order of their offsets.
    void join(const Loads &in_program_order, std::span<const Instruction *const> members) {
        const Instruction *leader = *std::ranges::find_if(in_program_order, [&](const auto *load) {
            return std::ranges::find(members, load) != members.end();
        });
        for (const Instruction *member : members)
            if (member != leader)
                plan_.accesses.at(member).joined_by = leader;
        AccessPlan &made = plan_.accesses.at(leader);
        made.joined.assign(members.begin(), members.end());
        made.count = static_cast<unsigned>(members.size());
    }

    KernelPlan &plan_;
    unsigned least_bytes_;
    std::vector<Family> families_;
};

} // namespace

// Reports and counts are of single accesses. In the tier lanes, lanes may be apart at an access.
void join_loads(KernelPlan &plan) {
    if (plan.request.watch != 0 || plan.request.counts || plan.function.debug ||
        plan.wants_short_code || plan.tier.tier == rt::Tier::Lanes)
        return;
    Joiner joiner(plan);
    for (const ir::Block *block : plan.function.blocks)
        joiner.join(*block);
}

} // namespace softcuda::warp
