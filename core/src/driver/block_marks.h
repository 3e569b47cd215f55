// block_marks.h -- reports the allocations of memory pools to a driver with check modes.
#pragma once

#include <abi/driver_types.h>

#include <atomic>
#include <cstddef>

namespace pycuda::detail {

/// True after mem or init was on for the first time. Stays true: a block that a pool allocates
/// while the modes are off must not look free when the modes are on again.
inline std::atomic<bool> marks_blocks{false};

/// Sets marks_blocks if these check modes need it.
void mark_blocks_for(unsigned modes) noexcept;

enum class BlockUse { Taken, GivenBack };

/// Reports that a pool allocates or frees `bytes` of a block. Call it only if marks_blocks is true.
void mark_block(CUdeviceptr block, std::size_t bytes, BlockUse use) noexcept;

/// Reports the program's line that allocated device memory. Call it only if marks_blocks is true.
void note_allocation(CUdeviceptr address);

} // namespace pycuda::detail
