// staged_arguments.h -- In, Out and InOut: host arrays as arguments of one call.
//
// Small arrays of one call share a slab of the device's memory, so that one copy brings all of them
// there and one brings all results back. These come through page-locked memory: the copies and the
// kernel are queued without a wait between them, and one wait at the end serves all. On the way in
// the driver itself is quickest with a few KB, as it puts them into the queue of commands.
//
//     arrays --> slab, kernel, slab --DMA--> pinned, WAIT, pinned --> arrays
#pragma once

#include "host_buffer.h"

#include <pycuda/launch.h>
#include <pycuda/memory_pool.h>
#include <pycuda/stream_use.h>

#include <memory>
#include <optional>
#include <vector>

namespace pycuda::python {

/// The argument handlers of one call. In, Out and InOut themselves are served here; a subclass
/// of a user has its pre_call() and post_call() called.
class StagedArguments {
  public:
    enum Direction { In = 1, Out = 2 };

    /// For a call in this stream.
    explicit StagedArguments(StreamRef queue) noexcept : use_(queue), queue_(use_.stream()) {}
    StagedArguments(const StagedArguments &) = delete;
    StagedArguments &operator=(const StagedArguments &) = delete;
    ~StagedArguments();

    /// Arrays up to this size in all lie in the slab, and results go through page-locked memory;
    /// larger ones, whose copies take longer than a wait, are copied where they lie.
    static constexpr std::size_t slab_bytes = std::size_t{64} << 10;
    /// More than this the driver does not put into the queue of commands at once.
    static constexpr std::size_t most_queued_bytes = std::size_t{16} << 10;

    /// Adds an In, Out or InOut; returns the address of its stand-in on the device. Borrows the
    /// handler, which must outlive this.
    CUdeviceptr add(nb::handle handler, int direction);
    /// Adds an object with get_device_alloc(), pre_call() and perhaps post_call().
    CUdeviceptr add_custom(nb::handle handler);

    StreamRef queue() const noexcept { return queue_; }
    bool empty() const noexcept { return stages_.empty(); }
    /// What the call does with the memory of arrays.
    StreamUse &use() noexcept { return use_; }

    /// Copies in. `stream` is what Python code passed, for pre_call().
    void before_launch(nb::handle stream);
    /// Waits for the kernel where anything is to be done after it, then copies out.
    void after_launch(const Function &function, nb::handle stream);

  private:
    struct Stage {
        nb::handle handler;
        nb::object allocation; ///< its stand-in, whatever another thread does to the handler
        int direction;
        CUdeviceptr address;
        HostBuffer buffer; ///< empty for custom handlers
        bool custom;
        bool in_slab = false;
        std::byte *pinned = nullptr; ///< its place in pinned_, if it has one
    };
    /// A part of the slab.
    struct Span {
        std::size_t begin = 0, end = 0;
        std::size_t size() const noexcept { return end - begin; }
    };
    CUdeviceptr place_in_slab(std::size_t bytes);
    Span slab_span(int direction) const;
    void copy_slab_in();
    void allocate_pinned();
    bool anything_after() const;

    StreamUse use_;
    StreamRef queue_;
    std::vector<Stage> stages_;
    std::optional<PooledMemory> slab_;
    std::size_t slab_used_ = 0;
    std::optional<PooledMemory> pinned_; ///< the slab's image, then other small results
    bool in_flight_ = false;             ///< the device may read or write pinned_
};

/// Waits for what is in the queue; an error names the kernel that was launched last.
void wait_for_kernel(const Function &function, StreamRef queue);

} // namespace pycuda::python
