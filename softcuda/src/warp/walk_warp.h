// walk_warp.h -- an interpreter of masks, joins and crossings, for the verifiers.
#pragma once

#include <cstdint>
#include <string>

namespace softcuda::warp {

struct KernelPlan;

/// Runs one warp through a plan with random outcomes of all branches, and each of its lanes beside
/// the warp. Returns what went wrong first, or an empty text. Found are lanes that run a basic
/// block that they did not choose, lanes that are left behind, and lanes that read what another
/// lane's way, or another iteration, has put in the place of their value. Once crossings are
/// planned, a warp also loses at each barrier what the plan does not keep and fetch.
[[nodiscard]] std::string walk_warp(const KernelPlan &plan, std::uint32_t seed);

} // namespace softcuda::warp
