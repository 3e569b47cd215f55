// lane_accesses.h -- the cost of one warp's access in a GPU's memory system.
//
// Global and local memory are transferred in sectors of 32 bytes: a request transfers each sector
// that at least one of its lanes accesses, once (CUDA C++ Best Practices Guide, "Coalesced Access
// to Global Memory"; Nsight Compute's l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum).
//
// Shared memory has 32 banks, each of which delivers one word of 4 bytes at a time (CUDA C++
// Programming Guide, "Shared Memory" of compute capability 5.x and later). The number of wavefronts
// of a request is the largest number of different words in one bank. Lanes that access the same
// word share it. Accesses of 8 bytes are processed for half a warp at a time, accesses of 16 bytes
// for a quarter.
//
//     lanes 0..31 read word 2 * lane        bank 0: words 0 and 32, bank 2: 2 and 34, ...
//                                           2 wavefronts, where 1 would do
#pragma once

#include <cstdint>

namespace softcuda::profile {

/// The distance in bytes from each active lane's address to the next active lane's address, if it
/// is constant.
struct Stride {
    std::int64_t bytes = 0;
    bool is_regular = false; ///< false with fewer than two lanes
};

/// The lanes of a warp that access one memory space.
struct WarpAccess {
    /// `addresses` has 32 entries and must outlive this object; `mask` is not 0.
    WarpAccess(const std::uint64_t *addresses, std::uint32_t mask, std::uint32_t bytes);

    const std::uint64_t *addresses;
    std::uint32_t mask;
    std::uint32_t bytes; ///< accessed by each lane
    Stride stride;

    /// Neighbouring active lanes access neighbouring elements in ascending order.
    [[nodiscard]] bool is_contiguous() const noexcept {
        return stride.is_regular && stride.bytes == bytes;
    }
};

/// The number of accessed sectors of 32 bytes.
[[nodiscard]] unsigned count_sectors(const WarpAccess &access);

/// The number of different addresses of the lanes.
[[nodiscard]] unsigned count_addresses(const WarpAccess &access);

/// The minimum number of sectors: those for as many bytes as the lanes access, without bytes that
/// several lanes access.
[[nodiscard]] unsigned ideal_sectors(const WarpAccess &access);

/// The number of wavefronts in shared memory; addresses are offsets from its begin.
[[nodiscard]] unsigned count_wavefronts(const WarpAccess &access);
/// The number of wavefronts without bank conflicts.
[[nodiscard]] unsigned ideal_wavefronts(const WarpAccess &access);

} // namespace softcuda::profile
