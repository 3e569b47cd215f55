// launch_attributes.h -- launches with attributes: cooperative grids, clusters, priorities.
#pragma once

#include <pycuda/launch.h>

#include <cstddef>
#include <optional>

namespace pycuda {

/// Optional attributes of a launch, in addition to its LaunchConfig.
struct LaunchAttributes {
    /// All blocks run at once and may wait for each other (cooperative_groups::this_grid()).
    bool cooperative = false;
    /// Blocks per cluster. The blocks of a cluster can access each other's shared memory. Needs
    /// compute capability 9.0.
    std::optional<Dim3> cluster = {};
    /// The priority, as for a stream: a lower number is more urgent.
    std::optional<int> priority = {};
    /// The kernel may start before the previous kernel of the stream has ended (programmatic
    /// dependent launch). The kernel must wait itself for the data that it needs.
    bool programmatic = false;

    /// Whether an attribute differs from its default.
    bool any() const noexcept { return cooperative || cluster || priority || programmatic; }
};

/// As launch_packed(), with attributes.
void launch_packed(const Function &function, const LaunchConfig &config,
                   const LaunchAttributes &attributes, void *arguments, std::size_t size);

/// The number of blocks with this many threads that run on a multiprocessor at the same time.
int max_active_blocks(const Function &function, int block_threads, std::size_t shared_bytes = 0);

/// The result of suggest_block(), in threads and in thread blocks.
struct BlockSuggestion {
    int block_threads = 0; ///< the block size with the highest occupancy
    int min_grid = 0;      ///< blocks that fill the device
};
/// The block size for the most active warps on a multiprocessor. Throws Error.
/// `most_threads` of 0 is no limit.
BlockSuggestion suggest_block(const Function &function, std::size_t shared_bytes = 0,
                              int most_threads = 0);

} // namespace pycuda
