// lane_accesses.h -- what a GPU's memory system would make of one warp's access.
//
// Global and local memory move in sectors of 32 bytes: a request needs each sector once that any of
// its lanes touches (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; Nsight
// Compute's l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum).
//
// Shared memory has 32 banks, each of which gives one word of 4 bytes at a time (CUDA C++
// Programming Guide, "Shared Memory" of compute capability 5.x and later). A request takes as many
// wavefronts as the bank with the most different words. Lanes that want the same word share it.
// Accesses of 8 bytes are done for half a warp at a time, of 16 bytes for a quarter.
//
//     lanes 0..31 read word 2 * lane        bank 0: words 0 and 32, bank 2: 2 and 34, ...
//                                           2 wavefronts, where 1 would do
#pragma once

#include <cstdint>

namespace softcuda::profile {

/// The bytes from each active lane's address to that of the next active lane, if it is always the
/// same.
struct Stride {
    std::int64_t bytes = 0;
    bool is_regular = false; ///< false with fewer than two lanes
};

/// The lanes of a warp that access one memory space.
struct WarpAccess {
    /// `addresses` has 32 entries and outlives this; `mask` is not 0.
    WarpAccess(const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t bytes);

    const std::uint64_t *addresses;
    std::uint32_t mask;
    std::uint32_t bytes; ///< that each lane accesses
    Stride stride;

    /// Neighbouring active lanes access neighbouring elements, upwards.
    [[nodiscard]] bool is_contiguous() const noexcept {
        return stride.is_regular && stride.bytes == bytes;
    }
};

/// Sectors of 32 bytes that any lane touches.
[[nodiscard]] unsigned count_sectors(const WarpAccess &access);

/// Different addresses among those of the lanes.
[[nodiscard]] unsigned count_addresses(const WarpAccess &access);

/// The sectors that hold as many bytes as the lanes access, less those that several lanes access.
[[nodiscard]] unsigned ideal_sectors(const WarpAccess &access);

/// Wavefronts of shared memory, whose addresses count from its beginning.
[[nodiscard]] unsigned count_wavefronts(const WarpAccess &access);
/// The same if no two lanes were in conflict.
[[nodiscard]] unsigned ideal_wavefronts(const WarpAccess &access);

} // namespace softcuda::profile
