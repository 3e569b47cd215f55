// pageable_copy.h -- large copies between the device and ordinary (pageable) host memory.
//
// The device's copy engine reaches pinned memory only. The driver copies pageable memory by way of
// pinned pieces as well, but with one core, and each piece waits for the last. Here the pieces go
// round a ring of pinned slots, and several cores copy one piece while the engine has others:
//
//     host memory --cores--> slot 0 --engine--> device
//                            slot 1   ...         (each slot's event tells when it is free again)
//                            slot 7
#pragma once

#include <cuda.h>

#include <cstddef>

namespace pycuda::detail {

/// Smaller copies are the driver's: it is as quick.
constexpr std::size_t least_copy_to_device = std::size_t{1} << 20;
constexpr std::size_t least_copy_to_host = std::size_t{256} << 10;

/// Copies in the order of the default stream, and returns when all is done. False, and nothing is
/// copied, where the driver's own copy is right: where the memory is pinned, managed or the
/// device's own, where the range is not inside of one allocation, or where the machine has few
/// cores. Any thread may call.
[[nodiscard]] bool try_pageable_copy_to_device(CUdeviceptr to, const void *from, std::size_t bytes);
[[nodiscard]] bool try_pageable_copy_to_host(void *to, CUdeviceptr from, std::size_t bytes);

} // namespace pycuda::detail
