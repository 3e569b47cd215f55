// scan_pipeline.h -- whether a device runs long scans as a pipeline, and with how much memory.
#pragma once

#include <pycuda/device.h>
#include <pycuda/function.h>
#include <pycuda/launch.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pycuda {

/// What scan_pipeline.cuh is told and given. Its text needs shuffle.cuh and scan.cuh before it.
struct ScanPipeline {
    static constexpr unsigned threads = 32 * (8 + 4 + 3 + 2); ///< as the roles are counted there
    static constexpr std::size_t alignment = 16;              ///< of what is read
    /// For each processor. A single tile need not ask the device.
    static constexpr std::int64_t fewest_tiles = 2;

    unsigned stages = 0;
    unsigned shared_bytes = 0;
    unsigned blocks = 0; ///< at most one on each processor

    /// None where the device cannot copy in bulk, has too little shared memory for tiles of
    /// `tile_bytes` in memory, or where so few tiles are done sooner by a block each.
    static std::optional<ScanPipeline> plan(const Device &device, std::size_t tile_bytes,
                                            std::int64_t tiles);

    /// For a launch of `kernel`, which is of this pipeline.
    LaunchConfig configure(const Function &kernel, StreamRef stream) const;
};

} // namespace pycuda
