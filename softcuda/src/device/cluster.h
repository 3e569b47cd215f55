// cluster.h -- the clusters of thread blocks of a launch.
#pragma once

#include "device/launch.h"

#include <array>
#include <cstdint>

namespace softcuda::device {

/// The maximum for portable programs. With CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, the
/// maximum is rt::kMostClusterBlocks.
inline constexpr unsigned kPortableCluster = 8;

/// The size of a launch's clusters, in blocks.
struct ClusterShape {
    std::array<std::uint32_t, 3> extent{1, 1, 1};
    bool is_explicit = false; ///< the kernel or the launch specifies the size

    [[nodiscard]] std::uint32_t blocks() const noexcept {
        return extent[0] * extent[1] * extent[2];
    }
};

/// Whether the extents of a cluster are all 0: not stated.
[[nodiscard]] inline bool is_none(const std::array<std::uint32_t, 3> &extent) noexcept {
    return (extent[0] | extent[1] | extent[2]) == 0;
}

/// As cluster_of(), for a kernel or a launch with clusters.
[[nodiscard]] ClusterShape checked_cluster(const Function &function, const LaunchRequest &request);

/// Throws Error(invalid cluster size) for a size that the kernel, the device or the grid does not
/// allow.
[[nodiscard]] inline ClusterShape cluster_of(const Function &function,
                                             const LaunchRequest &request) {
    const bool has_none =
        is_none(request.cluster) && !function.has_cluster() && !function.info().explicit_cluster;
    return has_none ? ClusterShape{} : checked_cluster(function, request);
}

/// The maximum number of blocks in a cluster of this kernel. 1 on devices without clusters.
[[nodiscard]] unsigned most_cluster_blocks(const Function &function) noexcept;

} // namespace softcuda::device
