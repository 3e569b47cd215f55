// stream_memory.h -- streams that write words in memory and wait for them.
#pragma once

#include "device/stream.h"

#include <cuda.h>

namespace softcuda::device {

/// The operation of cuStreamBatchMemOp. Old and new versions differ only in names.
using MemoryOperation = CUstreamBatchMemOpParams;

/// Throws Error(invalid value) for an invalid handle.
void check_memory_operation(const MemoryOperation &operation);

/// Puts a checked operation into a stream. Throws std::system_error if the polling thread cannot be
/// created.
void enqueue_memory_operation(Stream &stream, const MemoryOperation &operation);

} // namespace softcuda::device
