// find_apart.h -- called functions in which some lanes of a warp are while others are elsewhere.
//
//     if (lane > 3)
//         walk(n);            lanes 0 to 3 are outside of walk() meanwhile
//     ...
//     walk(n) { if (n == lane) return;  walk(n - 1); }
//                             lane n is outside of the inner call
//
// A loop in such a function may wait for a lane outside. The lanes of a warp that run a function
// together cannot do so: then each lane of a call runs by itself (rt/lane_calls.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace softcuda::warp {

struct KernelPlan;

struct CalledPlan {
    std::uint32_t symbol = 0; ///< the function's number in the module
    const KernelPlan *plan = nullptr;
};

/// The numbers of the functions outside of which lanes of a warp may be while others run them.
/// Empty if no called function waits for anything. The plans need their divergence, schedule and
/// waits.
[[nodiscard]] std::vector<std::uint32_t> find_apart(const KernelPlan &kernel,
                                                    std::span<const CalledPlan> called);

} // namespace softcuda::warp
