// find_race_free.cpp -- finds regions whose accesses to shared memory cannot race.
//
// All accesses of a region are plain reads, or all are atomics, or each thread accesses its own
// bytes, as far as another one writes them. The last is known if the addresses follow from the
// threads' indices:
//
//     tile[threadIdx.y][threadIdx.x] = in[i];                      region 0, each thread its own
//     __syncthreads();
//     sum += tile[threadIdx.y][k] * tile[k][threadIdx.x];          region 1, reads
#include "rt/watch_abi.h"
#include "warp/kernel_plan.h"
#include "warp/region_plan.h"

#include <algorithm>
#include <limits>

namespace softcuda::warp {

namespace {

using ir::Opcode;

bool is_in_shared(const ir::Instruction &i) { return i.attributes.space == ir::Space::Shared; }

bool is_plain_load(const ir::Instruction &i) {
    return i.is(Opcode::Load) && is_in_shared(i) && i.attributes.order == ir::Order::Weak;
}

/// An atomic that does not publish other writes to later readers.
bool is_relaxed_atomic(const ir::Instruction &i) {
    return (i.is(Opcode::Atomic) || i.is(Opcode::Reduce)) && is_in_shared(i) &&
           i.attributes.order == ir::Order::Relaxed;
}

/// Instructions that neither change shared memory nor, without a fence, order accesses of several
/// warps.
bool only_waits(const ir::Instruction &i) {
    return i.is(Opcode::WarpBarrier) || i.is(Opcode::Clock) || i.is(Opcode::Nanosleep) ||
           i.is(Opcode::Trap) || i.is(Opcode::DebugValue);
}

bool is_race_free(const KernelPlan &plan, const Region &region) {
    bool loads = false, atomics = false;
    for (const ir::Block *block : plan.function.blocks) {
        if (!region.blocks[block->id])
            continue;
        for (const ir::Instruction *i : block->instructions) {
            if (is_plain_load(*i))
                loads = true;
            else if (is_relaxed_atomic(*i))
                atomics = true;
            else if (!leaves_shared_alone(*i) && !only_waits(*i))
                return false;
        }
    }
    return !(loads && atomics);
}

/// The threads that access each byte of shared memory.
class BytesOfThreads {
  public:
    /// Adds an access of a thread. False if another thread accesses one of the bytes, and one of
    /// the two writes it.
    bool add(std::uint64_t offset, unsigned bytes, std::uint32_t thread, bool writes) {
        if (offset + bytes > kMostBytes)
            return false;
        if (offset + bytes > of_.size())
            of_.resize(offset + bytes);
        for (std::uint64_t byte = offset; byte < offset + bytes; ++byte)
            if (!of_[byte].add(thread + 1, writes))
                return false;
        return true;
    }

  private:
    static constexpr std::uint64_t kMostBytes = std::uint64_t{256} * 1024;
    struct Byte {
        static constexpr std::uint16_t kSeveral = std::numeric_limits<std::uint16_t>::max();
        std::uint16_t thread = 0; ///< 0: none
        bool written = false;

        bool add(std::uint32_t by, bool writes) {
            written |= writes;
            if (thread == 0)
                thread = static_cast<std::uint16_t>(by);
            else if (thread != by)
                thread = kSeveral;
            return !written || thread != kSeveral;
        }
    };
    std::vector<Byte> of_;
};

/// False if an address does not follow from the thread's index, or if another thread accesses the
/// same bytes.
bool add_access(const KernelPlan &plan, const ir::Instruction &i, BytesOfThreads &bytes) {
    if (!is_in_shared(i) || leaves_shared_alone(i)) // a variable's address leaves it alone, too
        return true;
    if (!i.is(Opcode::Load) && !i.is(Opcode::Store))
        return false;
    const analysis::PerThread *offsets = plan.thread_values.of(i.operand(0));
    if (!offsets)
        return false;
    const unsigned size = i.attributes.vector * (std::max(ir::bits(i.attributes.type), 8u) / 8);
    for (std::uint32_t thread = 0; thread < offsets->size(); ++thread)
        if (plan.may_come_to(i.block, thread) &&
            !bytes.add(static_cast<std::uint32_t>((*offsets)[thread] +
                                                  static_cast<std::uint64_t>(i.attributes.offset)),
                       size, thread, i.is(Opcode::Store)))
            return false;
    return true;
}

/// Whether no thread of the block accesses bytes that another one writes in the region.
bool is_apart(const KernelPlan &plan, const Region &region) {
    BytesOfThreads bytes;
    for (const ir::Block *block : plan.function.blocks) {
        if (!region.blocks[block->id])
            continue;
        for (const ir::Instruction *i : block->instructions)
            if (!(leaves_shared_alone(*i) || only_waits(*i) || is_in_shared(*i)) ||
                !add_access(plan, *i, bytes))
                return false;
    }
    return true;
}

/// Asynchronous copies continue after the end of a region.
bool has_asynchronous_copies(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        return std::ranges::any_of(block->instructions,
                                   [](const ir::Instruction *i) { return i->attributes.async; });
    });
}

} // namespace

// In lockstep, all warps run one region until they meet at its end.
void find_race_free(KernelPlan &plan) {
    const bool reports = (plan.request.watch & rt::kWatchOrder) != 0;
    if (reports)
        plan.written_slots = written_slots(plan.function);
    if (!plan.has_regions() || !plan.lockstep.holds || has_asynchronous_copies(plan.function))
        return;
    for (Region &region : plan.regions)
        region.race_free = is_race_free(plan, region) || (reports && is_apart(plan, region));
}

} // namespace softcuda::warp
