// cluster.cpp -- the cluster sizes that a launch may have.
#include "device/cluster.h"

#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "rt/cluster.h"

#include <algorithm>

namespace softcuda::device {
namespace {

constexpr int kFirstWithClusters = 90;

} // namespace

unsigned most_cluster_blocks(const Function &function) noexcept {
    if (function.module().context().device().architecture() < kFirstWithClusters)
        return 1;
    const unsigned most = function.allows_any_cluster() ? rt::kMostClusterBlocks : kPortableCluster;
    const std::uint32_t stated = function.info().max_cluster;
    return stated == 0 ? most : std::min(most, stated);
}

ClusterShape checked_cluster(const Function &function, const LaunchRequest &request) {
    const std::array<std::uint32_t, 3> &asked = request.cluster, required = function.cluster();
    const auto demand = [](bool fits) { require(fits, CUDA_ERROR_INVALID_CLUSTER_SIZE); };
    demand(!is_none(asked) || !is_none(required)); // a kernel may leave the size to the launch
    demand(is_none(asked) || is_none(required) || asked == required);
    const ClusterShape shape{.extent = is_none(asked) ? required : asked, .is_explicit = true};
    const unsigned most = most_cluster_blocks(function);
    for (std::size_t d = 0; d < 3; d++) // each dimension alone, because the product could overflow
        demand(shape.extent[d] > 0 && shape.extent[d] <= most &&
               request.grid[d] % shape.extent[d] == 0);
    demand(shape.blocks() <= most);
    return shape;
}

} // namespace softcuda::device
