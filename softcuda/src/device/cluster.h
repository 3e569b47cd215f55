// cluster.h -- the clusters of blocks that a launch asks for.
#pragma once

#include "device/launch.h"

#include <array>
#include <cstdint>

namespace softcuda::device {

/// What portable programs may ask for; with CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED a
/// cluster may have rt::kMostClusterBlocks.
inline constexpr unsigned kPortableCluster = 8;

/// The size of a launch's clusters, in blocks.
struct ClusterShape {
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    bool is_explicit = false; ///< the kernel or the launch names the size

    [[nodiscard]] std::uint32_t blocks() const noexcept {
        return extent[0] * extent[1] * extent[2];
    }
};

/// Throws Error(invalid cluster size) for what the kernel, the device or the grid do not allow.
[[nodiscard]] ClusterShape cluster_of(const Function &function, const LaunchRequest &request);

/// How many blocks a cluster of this kernel may have. 1 on devices without clusters.
[[nodiscard]] unsigned most_cluster_blocks(const Function &function) noexcept;

} // namespace softcuda::device
