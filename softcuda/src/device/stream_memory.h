// stream_memory.h -- words in memory that streams write and wait for.
#pragma once

#include "device/stream.h"

#include <cuda.h>

namespace softcuda::device {

/// As cuStreamBatchMemOp takes them. Old and new forms differ in names only.
using MemoryOperation = CUstreamBatchMemOpParams;

/// Throws Error(invalid value) for an invalid handle.
void check_memory_operation(const MemoryOperation &operation);

/// Puts a checked one into a stream. Throws std::system_error where the thread that waits cannot be
/// made.
void enqueue_memory_operation(Stream &stream, const MemoryOperation &operation);

} // namespace softcuda::device
