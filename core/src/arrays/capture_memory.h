// capture_memory.h -- the memory of the arrays of a capture, which the recorded graph owns.
//
// A launch of the graph uses the addresses that were recorded. So memory that is allocated during a
// capture is given to no array outside of the graph, and memory from before the capture is kept:
//
//     out[...] = (x + 1) * 2      x, out: kept by the graph
//                                 x + 1, (x + 1) * 2: blocks of the graph's own pool
//
// Blocks that return to the pool during the capture serve later arrays of the same stream. They
// return to the driver when the graph, its clones and its executable graphs have ended, or the
// context.
#pragma once

#include "arrays/stream_pool.h"

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

namespace pycuda::detail {

/// What the graph of one capture owns. Threads that record into the same graph share it.
class CaptureMemory {
  public:
    /// Of the graph that is being recorded in `stream`; null if there is none. Other code may have
    /// begun the capture.
    static std::shared_ptr<CaptureMemory> of(StreamRef stream);

    CaptureMemory(std::uint64_t id, CUcontext context) noexcept : id_(id), context_(context) {}
    ~CaptureMemory();
    CaptureMemory &operator=(CaptureMemory &&) = delete; // no copies either

    /// The number of the capture, which no other capture of the process has.
    std::uint64_t id() const noexcept { return id_; }
    /// Of the stream where the capture began to use memory.
    CUcontext context() const noexcept { return context_; }

    /// The pool for work that is recorded in `stream`, a stream of `context`.
    std::shared_ptr<StreamPool> pool_of(CUstream stream, const Context &context);

    /// Keeps an object until the graph has ended.
    void keep(std::shared_ptr<void> object);

    /// Releases all: no launch can use the memory any more.
    void end() noexcept;

  private:
    const std::uint64_t id_;
    const CUcontext context_;
    CallerMutex mutex_;
    std::vector<std::shared_ptr<StreamPool>> pools_;
    std::unordered_set<std::shared_ptr<void>> kept_;
};

} // namespace pycuda::detail
