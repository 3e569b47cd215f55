// low_bits.h -- the lowest bits of integers in each lane, to prove that addresses are aligned.
#pragma once

#include "analysis/shape.h"
#include "ir/ir.h"

#include <array>
#include <cstdint>

namespace softcuda::warp {

struct KernelPlan;

/// The known bits of a value: the lowest `count` bits of each lane.
struct LowBits {
    unsigned count = 0;
    std::array<std::uint64_t, analysis::kLanes> lanes{};
};

/// Follows a few operations, and asks the value's shape then.
[[nodiscard]] LowBits low_bits(const KernelPlan &kernel, const ir::Value *value);

/// Whether the value is a multiple of a power of two in all lanes.
[[nodiscard]] bool has_multiples(const KernelPlan &kernel, const ir::Value *value, unsigned of);

} // namespace softcuda::warp
