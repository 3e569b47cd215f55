// bulk_copy.h -- bulk copies, and asynchronous stores to other blocks, for one lane.
//
// They are complete when the function returns. Each copy counts its bytes once at the mbarrier of
// each destination.
#pragma once

#include "rt/lane_caller.h"
#include "support/bulk_copy.h"

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

struct BulkCopy {
    std::uint64_t to = 0, from = 0; ///< generic addresses
    std::uint32_t bytes = 0;
    std::uint64_t barrier = 0; ///< if the form has a barrier
    std::uint32_t mask = 0;    ///< blocks by rank, or bytes of each 16
};

/// Ends the launch if an address or the size is not a multiple of 16, or if the memory does not
/// exist.
void copy_in_bulk(const LaneCaller &lane, const BulkForm &form, const BulkCopy &copy);

/// Stores or combines the elements at `values`, `bytes` bytes in total.
void store_asynchronously(const LaneCaller &lane, const BulkForm &form, std::uint64_t to,
                          std::uint64_t barrier, const std::byte *values, std::uint32_t bytes);

} // namespace softcuda::rt
