// choose_tier.h -- the choice of a kernel's tier: regions, fibers or lanes.
//
// Regions are the fastest tier. They require that all warps of a block reach the same barriers. In
// fibers, warps may wait for each other in any way. In lanes, the lanes of one warp may do so, too.
// The chosen tier is the first of the three in which the kernel gives correct results and ends.
// docs/tiers.md has the details.
#pragma once

#include "analysis/range.h"
#include "ir/ir.h"
#include "rt/kernel_abi.h"
#include "transform/find_waits.h"
#include "transform/schedule.h"
#include "warp/block_groups.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softcuda::warp {

/// The parameters of a compilation in addition to the kernel and its block shape.
struct TierRequest {
    bool cooperative = false;          ///< all blocks of the grid must be resident at the same time
    std::optional<rt::Tier> wanted;    ///< used if the kernel can run in it
    std::uint32_t watch = 0;           ///< the events that the kernel reports: rt::WatchNeeds
    bool counts = false;               ///< its execution is counted (rt/counts.h)
    std::optional<BlockOrder> order{}; ///< used if the kernel's blocks may run in it
    /// The numbers of the module's functions in which threads may end.
    std::vector<std::uint32_t> ending{};
    /// Those that read signals (transform/find_loop_ends.h).
    std::vector<std::uint32_t> signalling{};
    /// Those that exchange values between lanes.
    std::vector<std::uint32_t> exchanging{};
    /// Lanes of the warp may be outside of the function while others run it (find_apart.h).
    bool lanes_outside = false;
    /// Lanes of the warp may wait for each other in different functions: each lane of a call runs
    /// by itself (rt/lane_calls.h).
    bool calls_apart = false;

    [[nodiscard]] bool may_end_in(std::uint32_t function) const {
        return std::find(ending.begin(), ending.end(), function) != ending.end();
    }
};

/// A called function, prepared like a kernel, and its number in the module.
struct Callee {
    std::uint32_t symbol = 0;
    const ir::Function *function = nullptr;
};

/// Numbers of the functions in which threads end, except by a trap, or that call such a function.
[[nodiscard]] std::vector<std::uint32_t> find_ending(std::span<const Callee> callees);
/// Numbers of the functions that read signals, or that call such a function.
[[nodiscard]] std::vector<std::uint32_t> find_signalling(std::span<const Callee> callees);
/// Numbers of the functions that have exchanges between lanes, or that call such a function.
[[nodiscard]] std::vector<std::uint32_t> find_exchanging(std::span<const Callee> callees);

struct TierChoice {
    rt::Tier tier = rt::Tier::Regions;
    std::string reason; ///< as text
    const ir::Instruction *cause =
        nullptr; ///< the instruction that requires a tier above Regions, if there is one
    bool lanes_wait = false; ///< lanes of one warp may wait for each other
};

[[nodiscard]] TierChoice
choose_tier(const ir::Function &function, const analysis::LaunchShape &launch,
            const analysis::LoopForest &loops, const transform::Schedule &schedule,
            const transform::Waits &waits, const ir::Instruction *split_exchange,
            const TierRequest &request);

[[nodiscard]] std::string_view text(rt::Tier tier);
[[nodiscard]] bool from_text(std::string_view word, rt::Tier &out);

} // namespace softcuda::warp
