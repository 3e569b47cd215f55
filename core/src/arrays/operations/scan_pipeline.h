// scan_pipeline.h -- whether a device runs long scans as a pipeline, and with how much memory.
#pragma once

#include <pycuda/device_traits.h>
#include <pycuda/function.h>
#include <pycuda/launch.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pycuda {

/// The parameters of scan_pipeline.cuh. Its text needs shuffle.cuh and scan.cuh before it.
struct ScanPipeline {
    static constexpr unsigned threads = 32 * (8 + 4 + 3 + 2); ///< as the roles are counted there
    static constexpr std::size_t alignment = 16;              ///< of the input
    /// For each processor. A single tile need not ask the device.
    static constexpr std::int64_t fewest_tiles = 2;

    unsigned stages = 0;
    unsigned shared_bytes = 0;
    unsigned blocks = 0; ///< at most one on each processor

    /// Empty if the device has no bulk copies, if its shared memory is too small for tiles of
    /// `tile_bytes`, or if there are so few tiles that one block for each tile is faster.
    static std::optional<ScanPipeline> plan(const DeviceTraits &device, std::size_t tile_bytes,
                                            std::int64_t tiles);

    LaunchConfig configure(const Function &kernel, StreamRef stream) const;
};

/// Words of 64 bits for the nodes of all levels over `tiles`, of states of `size` bytes; as
/// find_prefix() of scan.cuh counts them.
inline std::int64_t scan_node_words(std::int64_t tiles, std::size_t size) {
    std::int64_t nodes = 2;
    for (std::int64_t level = tiles; level > 1; level = level / 32 + 1) {
        nodes += level + 1;
        if (level <= 32)
            break;
    }
    return nodes * static_cast<std::int64_t>((size + 3) / 4);
}

} // namespace pycuda
