// pageable_copy.h -- large copies between the device and ordinary (pageable) host memory.
//
// The device's copy engine accesses pinned memory only. The driver copies pageable memory through
// pinned memory in pieces, but with one core, and each piece waits for the previous one. Here the
// pieces use a ring of pinned slots: several cores copy one piece while the engine copies others:
//
//     host memory --cores--> slot 0 --engine--> device
//                            slot 1   ...         (each slot's event tells when it is free again)
//                            slot 7
#pragma once

#include <cuda.h>

#include <cstddef>

namespace pycuda::detail {

/// Smaller copies use the driver, which is as fast.
constexpr std::size_t least_copy_to_device = std::size_t{1} << 20;
constexpr std::size_t least_copy_to_host = std::size_t{256} << 10;

/// Copies in the order of the default stream, and returns when the copy is done. Returns false and
/// copies nothing if the driver's own copy should be used: the memory is pinned, managed or device
/// memory, the range is not inside one allocation, or the machine has few cores. Any thread may
/// call.
[[nodiscard]] bool try_pageable_copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes);
[[nodiscard]] bool try_pageable_copy_to_host(void *to, CUdeviceptr from, std::size_t bytes);

} // namespace pycuda::detail
