// lane_call_abi.h -- what generated code uses to call a function for the lanes of a warp one by
// one.
#pragma once

#include "rt/kernel_abi.h"

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// A function that is called for some lanes of a warp (codegen/emit_function.cpp).
using LaneFunction = void (*)(const LaunchFrame *frame, WorkerState *worker, std::uint64_t block,
                              std::uint32_t warp, std::uint32_t mask, std::uint64_t depth,
                              std::byte *area);

/// A call of several lanes. Generated code keeps it on its stack until it has called
/// scu_call_lanes().
struct LaneCall {
    LaneFunction function;
    const LaunchFrame *frame;
    std::uint64_t block;
    std::uint64_t depth;
    std::byte *area;            ///< arguments and results, of all lanes
    const std::uint32_t *ended; ///< in it: the lanes that ended in the function
    std::uint32_t warp;
    std::uint32_t place; ///< where a lane continues that returns
};

} // namespace softcuda::rt

extern "C" {

/// Calls the function for each lane in `mask`, each on a stack of its own (rt/lane_calls.h). The
/// lanes leave the frame of `state` until they return.
void scu_call_lanes(softcuda::rt::WorkerState *, softcuda::rt::LaneState *,
                    const softcuda::rt::LaneCall *call, std::uint32_t mask);
}
