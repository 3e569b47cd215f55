// choose_tier.cpp -- chooses the first tier in which a kernel can run.
#include "warp/choose_tier.h"

#include "ir/exchange.h"

#include <array>

namespace softcuda::warp {

using rt::Tier;

namespace {

constexpr std::array<std::string_view, 3> kNames = {"regions", "fibers", "lanes"};
constexpr std::size_t kMostBarriers = 63; // a bit of a word for each, and one for the start

bool is_plain(const ir::Instruction &barrier) {
    const ir::Value *number = ir::barrier_number(barrier);
    return !barrier.is(ir::Opcode::BarrierArrive) && !ir::barrier_threads(barrier) &&
           number->constant && number->bits == 0;
}

// The reason why the kernel cannot run in regions; an empty reason if there is none.
TierChoice find_obstacle(const ir::Function &function, const analysis::LaunchShape &launch,
                         const transform::Schedule &schedule, const TierRequest &request) {
    if (!function.kernel)
        return {Tier::Fibers, "kernels call it", nullptr};
    if (request.cooperative)
        return {Tier::Fibers, "all blocks of the grid may wait for each other", nullptr};
    std::size_t barriers = 0;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            if (i->is(ir::Opcode::Call))
                return {Tier::Fibers, "a call of a function that is not inlined", i};
            if (i->is(ir::Opcode::RuntimeCall))
                return {Tier::Fibers, "an instruction for clusters, bulk copies or warp groups", i};
            if (!ir::is_block_barrier(*i))
                continue;
            ++barriers;
            if (!is_plain(*i))
                return {Tier::Fibers, "a barrier other than barrier 0 of the whole block", i};
            if (barriers > kMostBarriers && launch.warps() > 1)
                return {Tier::Fibers, "more than 63 barriers", i};
        }
    if (schedule.divergent_barrier && launch.warps() > 1)
        return {Tier::Fibers, "a barrier that only some threads of a warp may reach",
                schedule.divergent_barrier};
    return {};
}

// A lane that ends in a function leaves the caller's lanes, which only the tier lanes supports at
// any time.
const ir::Instruction *call_that_ends(const ir::Function &function, const TierRequest &request) {
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (i->is(ir::Opcode::Call) && request.may_end_in(i->attributes.symbol))
                return i;
    return nullptr;
}

/// Whether threads end in the function itself, except by a trap.
bool ends_threads(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        std::size_t count = block->instructions.size();
        return block->terminator()->is(ir::Opcode::Exit) &&
               !(count > 1 && block->instructions[count - 2]->is(ir::Opcode::Trap));
    });
}

bool reads_signals(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        return std::ranges::any_of(block->instructions, [](const ir::Instruction *i) {
            return i->is(ir::Opcode::CallIndirect) || transform::may_signal(*i);
        });
    });
}

bool has_exchange(const ir::Function &function) {
    return std::ranges::any_of(function.blocks, [](const ir::Block *block) {
        return std::ranges::any_of(block->instructions,
                                   [](const ir::Instruction *i) { return ir::is_exchange(*i); });
    });
}

// A barrier to which the lanes of a warp may come one by one.
const ir::Instruction *barrier_of_lanes(const ir::Function &function,
                                        const transform::Schedule &schedule,
                                        const TierRequest &request) {
    if (schedule.split_barrier || !request.lanes_outside)
        return schedule.split_barrier;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (ir::is_block_barrier(*i) && i->attributes.apart)
                return i;
    return nullptr;
}

/// The numbers of the functions for which `holds` is true, and of those that call them.
std::vector<std::uint32_t> find_with_callers(std::span<const Callee> callees,
                                             bool (*holds)(const ir::Function &)) {
    std::vector<std::uint32_t> found;
    auto known = [&](std::uint32_t symbol) {
        return std::ranges::find(found, symbol) != found.end();
    };
    auto calls_one = [&](const ir::Function &function) {
        for (const ir::Block *block : function.blocks)
            for (const ir::Instruction *i : block->instructions)
                if (i->is(ir::Opcode::Call) && known(i->attributes.symbol))
                    return true;
        return false;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const Callee &callee : callees)
            if (!known(callee.symbol) && (holds(*callee.function) || calls_one(*callee.function))) {
                found.push_back(callee.symbol);
                changed = true;
            }
    }
    return found;
}

} // namespace

std::vector<std::uint32_t> find_ending(std::span<const Callee> callees) {
    return find_with_callers(callees, ends_threads);
}

std::vector<std::uint32_t> find_signalling(std::span<const Callee> callees) {
    return find_with_callers(callees, reads_signals);
}

std::vector<std::uint32_t> find_exchanging(std::span<const Callee> callees) {
    return find_with_callers(callees, has_exchange);
}

TierChoice choose_tier(const ir::Function &function, const analysis::LaunchShape &launch,
                       const analysis::LoopForest &loops, const transform::Schedule &schedule,
                       const transform::Waits &waits, const ir::Instruction *split_exchange,
                       const TierRequest &request) {
    TierChoice needed = find_obstacle(function, launch, schedule, request);
    const ir::Instruction *barrier = barrier_of_lanes(function, schedule, request);
    if (barrier)
        needed = {Tier::Lanes, "a barrier to which the lanes of a warp come one by one", barrier};
    if (split_exchange)
        needed = {Tier::Lanes, "an exchange whose members may come from several places",
                  split_exchange};
    if (const ir::Instruction *call = call_that_ends(function, request))
        needed = {Tier::Lanes, "a call of a function in which threads end", call};
    if (!function.kernel && ends_threads(function))
        needed = {Tier::Lanes, "threads end in it", nullptr};
    if (!loops.reducible())
        needed = {Tier::Lanes, "a loop with several entries", nullptr};
    if (needed.tier != Tier::Lanes && waits.lane_cause)
        needed = {Tier::Lanes, "lanes of a warp that wait for each other", waits.lane_cause};
    if (needed.tier != Tier::Lanes && request.calls_apart)
        needed = {Tier::Lanes, "lanes of a warp that wait for each other in functions", nullptr};
    needed.lanes_wait = barrier || split_exchange || waits.lane_cause || !loops.reducible();
    if (needed.tier == Tier::Regions && waits.cause)
        needed = {Tier::Fibers, "a loop that waits for another thread", waits.cause};
    if (request.wanted && *request.wanted >= needed.tier)
        return {*request.wanted, "asked for", needed.cause, needed.lanes_wait};
    if (needed.tier == Tier::Regions)
        needed.reason = "nothing needs more";
    return needed;
}

std::string_view text(Tier tier) { return kNames.at(static_cast<std::size_t>(tier)); }

bool from_text(std::string_view word, Tier &out) {
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (kNames[i] == word) {
            out = static_cast<Tier>(i);
            return true;
        }
    return false;
}

} // namespace softcuda::warp
