// walk_warp.h -- an interpreter of masks, joins and crossings, for the verifiers.
#pragma once

#include <cstdint>
#include <string>

namespace softcuda::warp {

struct KernelPlan;

/// Simulates one warp with random outcomes of all branches, and each of its lanes alone. Returns
/// the first error, or an empty text. Errors are lanes that run a basic block which they did not
/// choose, lanes that are left behind, and lanes that read a value of another lane's path or of
/// another iteration. After crossings are planned, a warp also loses all values at each barrier
/// that the plan does not store and load.
[[nodiscard]] std::string walk_warp(const KernelPlan &plan, std::uint32_t seed);

} // namespace softcuda::warp
