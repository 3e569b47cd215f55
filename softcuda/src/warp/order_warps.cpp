// order_warps.cpp -- chooses the order of a block's warps in each region.
//
//     total = sums[0];                                 each warp reads it
//     ...
//     if (lane == 0) sums[warp] = next;                warp 0 overwrites it
//     __syncthreads();
//
// A barrier is missing between the read and the write. A GPU still gives the expected result,
// because all warps have read long before one of them writes. Warps that run one after the other
// give this result only if the warp that writes is the last one. So a region runs its warps in
// descending order if this, and not the ascending order, puts each known read before the write of
// another warp that follows the read in the program, and each known write before such a read.
// A region without a race has no such pairs, and keeps the ascending order.
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace softcuda::warp {

namespace {

using ir::Block;
using ir::Instruction;
using ir::Opcode;

/// The time of this analysis grows with the square.
constexpr std::size_t kMostAccesses = 32;

/// The bytes of shared memory from the first to the last that a warp accesses.
struct Bytes {
    std::uint64_t first = 0, end = 0;

    [[nodiscard]] bool overlaps(const Bytes &other) const {
        return first < other.end && other.first < end;
    }
};

struct Access {
    const Instruction *instruction;
    std::vector<std::optional<Bytes>> by_warp; ///< nothing for a warp that does not come here
};

bool is_plain_shared(const Instruction &i) {
    return (i.is(Opcode::Load) || i.is(Opcode::Store)) && i.attributes.space == ir::Space::Shared &&
           i.attributes.order == ir::Order::Weak;
}

class Orders {
  public:
    Orders(const KernelPlan &plan, const Region &region) : plan_(plan), region_(region) {}

    /// True if only the descending order keeps the order of the program.
    bool prefers_descending() {
        if (!has_loads_and_stores())
            return false;
        order_blocks();
        find_accesses();
        for (std::size_t n = 0; n < accesses_.size(); ++n)
            for (std::size_t later = n + 1; later < accesses_.size(); ++later)
                if (accesses_[n].instruction->opcode != accesses_[later].instruction->opcode)
                    compare(accesses_[n], accesses_[later]);
        return wants_descending_ && !wants_ascending_;
    }

  private:
    [[nodiscard]] bool has_loads_and_stores() const {
        bool loads = false, stores = false;
        for (const Block *block : plan_.function.blocks)
            if (region_.blocks[block->id])
                for (const Instruction *i : block->instructions)
                    if (is_plain_shared(*i))
                        (i->is(Opcode::Load) ? loads : stores) = true;
        return loads && stores;
    }

    // Basic blocks in the order in which a warp comes to them after the barrier, except for loops.
    void order_blocks() {
        std::vector<bool> seen(plan_.function.blocks.size(), false);
        std::vector<std::pair<const Block *, std::size_t>> path{{region_.entry, 0}};
        seen[region_.entry->id] = true;
        while (!path.empty()) {
            auto &[block, next] = path.back();
            if (barrier_at_end(block) || next == block->successors().size()) {
                order_.push_back(block);
                path.pop_back();
                continue;
            }
            const Block *to = block->successors()[next++];
            if (!seen[to->id]) {
                seen[to->id] = true;
                path.emplace_back(to, 0);
            }
        }
        std::ranges::reverse(order_);
    }

    void find_accesses() {
        for (const Block *block : order_)
            for (const Instruction *i : block->instructions)
                if (is_plain_shared(*i) && accesses_.size() < kMostAccesses)
                    if (const analysis::PerThread *offsets = plan_.thread_values.of(i->operand(0)))
                        accesses_.push_back({i, bytes_of(*i, *offsets)});
    }

    [[nodiscard]] std::vector<std::optional<Bytes>>
    bytes_of(const Instruction &i, const analysis::PerThread &offsets) const {
        const std::uint64_t bytes =
            std::uint64_t{ir::bits(i.attributes.type)} / 8 * i.attributes.vector;
        std::vector<std::optional<Bytes>> by_warp(plan_.launch.warps());
        for (std::size_t thread = 0; thread < offsets.size(); ++thread) {
            if (!plan_.may_come_to(i.block, thread))
                continue;
            const std::uint64_t first =
                offsets[thread] + static_cast<std::uint64_t>(i.attributes.offset);
            std::optional<Bytes> &all = by_warp[thread / analysis::kLanes];
            if (!all)
                all = Bytes{first, first + bytes};
            all = Bytes{std::min(all->first, first), std::max(all->end, first + bytes)};
        }
        return by_warp;
    }

    // Warps of the earlier access should run before other warps of the later one.
    void compare(const Access &earlier, const Access &later) {
        for (std::size_t a = 0; a < earlier.by_warp.size(); ++a)
            for (std::size_t b = 0; b < later.by_warp.size(); ++b)
                if (a != b && earlier.by_warp[a] && later.by_warp[b] &&
                    earlier.by_warp[a]->overlaps(*later.by_warp[b]))
                    (a < b ? wants_ascending_ : wants_descending_) = true;
    }

    const KernelPlan &plan_;
    const Region &region_;
    std::vector<const Block *> order_;
    std::vector<Access> accesses_; ///< in the order of the program
    bool wants_ascending_ = false, wants_descending_ = false;
};

} // namespace

void order_warps(KernelPlan &plan) {
    if (plan.has_regions())
        for (Region &region : plan.regions)
            region.descending = Orders(plan, region).prefers_descending();
}

} // namespace softcuda::warp
