// staged_arguments.h -- In, Out and InOut: host arrays as arguments of one call.
//
// Small arrays of one call share a slab of device memory, so that one copy in each direction
// transfers all of them. Results are copied through page-locked memory: the copies and the kernel
// are queued without a wait between them, and there is one wait at the end. For inputs of a few KB,
// the driver itself is the fastest, because it puts the data into its command queue.
//
//     arrays --> slab, kernel, slab --DMA--> pinned, WAIT, pinned --> arrays
#pragma once

#include "arrays/array_scope.h"
#include "memory/host_buffer.h"

#include <pycuda/launch.h>
#include <pycuda/memory_pool.h>
#include <pycuda/work.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pycuda::python {

/// The argument handlers of one call. Handles In, Out and InOut itself; for a user's subclass,
/// calls its pre_call() and post_call().
class StagedArguments {
  public:
    enum Direction { In = 1, Out = 2 };

    /// For a call in this stream, in the current context.
    explicit StagedArguments(StreamRef queue) : use_(queue), queue_(use_.stream()) {}
    /// For a call of a kernel that was loaded in this context.
    StagedArguments(StreamRef queue, const Context &context)
        : context_(&context), use_(queue, context, Work::KernelOfProgram()), queue_(use_.stream()) {
    }
    StagedArguments(const StagedArguments &) = delete;
    StagedArguments &operator=(const StagedArguments &) = delete;
    ~StagedArguments();

    /// Arrays up to this total size are in the slab, and their results pass through page-locked
    /// memory. Copying larger arrays takes longer than a wait, so they are copied directly.
    static constexpr std::size_t slab_bytes = std::size_t{64} << 10;
    /// The driver does not put more than this into the command queue at once.
    static constexpr std::size_t most_queued_bytes = std::size_t{16} << 10;

    /// Adds an In, Out or InOut, which is the argument of this number; returns the address of its
    /// device memory. Borrows the handler, which must outlive this object.
    CUdeviceptr add(nb::handle handler, int direction, std::size_t index);
    /// Adds an object with get_device_alloc(), pre_call() and perhaps post_call().
    CUdeviceptr add_custom(nb::handle handler);

    StreamRef queue() const noexcept { return queue_; }
    bool empty() const noexcept { return stages_.empty(); }
    /// The call's use of the memory of arrays.
    Work &use() noexcept { return use_; }
    /// Keeps an argument as long as the graph that records the call.
    void keep_in_graph(nb::handle argument) {
        if (use_.is_captured()) [[unlikely]]
            use_.keep_in_graph(keep_alive(nb::borrow(argument)));
    }

    /// Copies the inputs. `stream` is the Python object of the stream, for pre_call().
    void before_launch(nb::handle stream) {
        if (!stages_.empty()) [[unlikely]]
            copy_inputs(stream);
    }
    /// Waits for the kernel if there is work to do after it, then copies the results.
    void after_launch(const Function &function, nb::handle stream) {
        if (!stages_.empty()) [[unlikely]]
            copy_results(function, stream);
    }

  private:
    struct Stage {
        nb::handle handler;
        nb::object allocation; ///< the device memory, also if another thread changes the handler
        int direction;
        CUdeviceptr address;
        HostBuffer buffer; ///< empty for custom handlers
        std::size_t index; ///< of the argument
        bool custom;
        bool in_slab = false;
        std::byte *pinned = nullptr; ///< its part of pinned_; null if it has none
    };
    /// A part of the slab.
    struct Span {
        std::size_t begin = 0, end = 0;
        std::size_t size() const noexcept { return end - begin; }
    };
    void copy_inputs(nb::handle stream);
    void copy_results(const Function &function, nb::handle stream);
    CUdeviceptr place_in_slab(std::size_t bytes);
    Span slab_span(int direction) const;
    void copy_slab_in();
    void allocate_pinned();
    bool anything_after() const;
    std::string describe_fault(CUresult result) const;

    const Context *context_ = nullptr; ///< of the kernel; null for the current context
    Work use_;
    StreamRef queue_;
    std::vector<Stage> stages_;
    std::optional<PooledMemory> slab_;
    std::size_t slab_used_ = 0;
    std::optional<PooledMemory> pinned_; ///< the image of the slab, then other small results
    bool in_flight_ = false;             ///< the device may read or write pinned_
};

/// Waits for the work in the queue; an error names the last launched kernel.
void wait_for_kernel(const Function &function, StreamRef queue);

} // namespace pycuda::python
