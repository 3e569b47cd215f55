// block_marks.h -- what core tells a driver with check modes of the memory that core hands out.
#pragma once

#include <abi/driver_types.h>

#include <atomic>
#include <cstddef>

namespace pycuda::detail {

/// True once mem or init was on. It stays true: a block that a pool hands out while the modes are
/// off must not look free when the modes are on again.
inline std::atomic<bool> marks_blocks{false};

/// Sets marks_blocks where these check modes need it.
void mark_blocks_for(unsigned modes) noexcept;

enum class BlockUse { Taken, GivenBack };

/// A pool hands out `bytes` of a block, or takes them back. Only where marks_blocks is true.
void mark_block(CUdeviceptr block, std::size_t bytes, BlockUse use) noexcept;

/// Device memory was allocated: tells the driver which line of the program did that. Only where
/// marks_blocks is true.
void note_allocation(CUdeviceptr address);

} // namespace pycuda::detail
