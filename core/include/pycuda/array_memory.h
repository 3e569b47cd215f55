// array_memory.h -- the memory that arrays share, and what they have in common in a context.
//
// Memory comes from a pool, and goes back to it while the device may still be at work on it. That
// is safe because of what the default stream promises: it waits for work in the other streams, and
// they for it. Blocks are handed out as of the default stream:
//
//   - the next user works in the default stream: it comes after all that used the block before
//   - the next user works in another stream: that stream is made to wait for the default stream
//   - the last user worked in a stream that does not take part (CU_STREAM_NON_BLOCKING): each use
//     by a stream leaves an event with the memory; before the block goes back, the default stream
//     is made to wait for it
#pragma once

#include <pycuda/context.h>
#include <pycuda/event.h>
#include <pycuda/memory_pool.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pycuda {

class KernelTable;
class LibraryHandles;

/// What the arrays of one context share: the pool of their memory, their kernels, and the handles
/// of NVIDIA's libraries.
class ArrayContext {
  public:
    explicit ArrayContext(Context context);
    ~ArrayContext();
    ArrayContext(const ArrayContext &) = delete;
    ArrayContext &operator=(const ArrayContext &) = delete;

    /// That of the context that is current. Throws Error where there is none.
    static const std::shared_ptr<ArrayContext> &current();

    /// Called when the device is out of memory, before waiting blocks are freed: a chance to drop
    /// garbage. For pools that are made from now on.
    static void on_out_of_memory(std::function<void()> reclaim);

    const Context &context() const noexcept { return context_; }
    MemoryPool &pool() noexcept { return pool_; }
    KernelTable &kernels() noexcept { return *kernels_; }
    LibraryHandles &libraries() noexcept { return *libraries_; }
    int processors() const noexcept { return processors_; }

    /// Work put into `stream` from now on comes after what the default stream has now.
    void order_after_default(StreamRef stream) const;

  private:
    Context context_;
    MemoryPool pool_;
    std::unique_ptr<KernelTable> kernels_;
    std::shared_ptr<LibraryHandles> libraries_;
    int processors_;
};

/// Memory of one or several arrays: a block of the pool, or what somebody else owns.
class ArrayMemory {
  public:
    /// From the context's pool, to be written first in `stream`.
    static std::shared_ptr<ArrayMemory> allocate(const std::shared_ptr<ArrayContext> &context,
                                                 std::size_t bytes, StreamRef stream = {});
    /// At an address that is kept valid by `owner`, of any kind.
    static std::shared_ptr<ArrayMemory> borrow(const std::shared_ptr<ArrayContext> &context,
                                               CUdeviceptr address, std::size_t bytes,
                                               std::shared_ptr<void> owner);

    ArrayMemory(std::shared_ptr<ArrayContext> context, PooledMemory memory);
    ArrayMemory(std::shared_ptr<ArrayContext> context, CUdeviceptr address, std::size_t bytes,
                std::shared_ptr<void> owner);
    ~ArrayMemory();
    ArrayMemory(const ArrayMemory &) = delete;
    ArrayMemory &operator=(const ArrayMemory &) = delete;

    /// Throws Error (invalid handle) after free().
    CUdeviceptr get() const {
        if (freed_) [[unlikely]]
            throw_freed();
        return address_;
    }
    std::size_t size() const noexcept { return bytes_; }
    bool freed() const noexcept { return freed_; }
    [[noreturn]] void throw_freed() const;
    const std::shared_ptr<ArrayContext> &context() const noexcept { return context_; }
    const std::shared_ptr<void> &owner() const noexcept { return owner_; }

    /// Gives the memory back now, whoever still sees it. A second time is an Error.
    void free();

    /// Notes that work in a stream other than the default one uses the memory; `done` was recorded
    /// in it after that work.
    void used_until(const std::shared_ptr<Event> &done);

  private:
    void give_back() noexcept;

    std::shared_ptr<ArrayContext> context_;
    std::optional<PooledMemory> block_; ///< none of borrowed memory, and after free()
    std::shared_ptr<void> owner_;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    bool freed_ = false;
    std::mutex uses_mutex_;
    std::vector<std::shared_ptr<Event>> uses_; ///< what each thread that launches adds to
};

} // namespace pycuda
