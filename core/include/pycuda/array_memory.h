// array_memory.h -- the memory of arrays, and the state that all arrays of a context share.
//
// Memory comes from a pool, and may return to the pool while the device still uses it. Each stream
// has its own pool. The stream is the home stream of the memory that was allocated for it. Rules:
//
//   - the next user of a block works in the block's home stream, too: after all earlier users
//   - another stream used the memory: each use adds an event to the memory (Work), and the
//     home stream waits for these events before the block is returned to the pool
//   - another stream is the first to use the memory: this stream waits for the home stream
//   - other code may destroy its stream without notice, and a new stream may get the same handle:
//     so memory for streams of other code has the default stream as its home stream
//   - memory that is allocated during a capture belongs to the graph (arrays/capture_memory.h)
//   - when a stream ends, its pool waits for the stream, and then for a new stream, which gets the
//     blocks
//
//     home s:   y = x + 1   | del y ... wait(e)      | z = x + 2 gets y's block
//     stream t:   use of y ------- e recorded ^
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/device_traits.h>
#include <pycuda/event.h>
#include <pycuda/memory_pool.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pycuda {

class ArrayMemory;
class ErrorFlags;
class KernelTable;
class LibraryHandles;
class Work;

namespace detail {
class IndexCheck;
struct IndexBounds;
class StreamPool;
} // namespace detail

/// The state that the arrays of one context share: memory pools, kernels, and handles of NVIDIA's
/// libraries.
class ArrayContext : public std::enable_shared_from_this<ArrayContext> {
  public:
    /// For current(), which keeps one object for each context.
    explicit ArrayContext(Context context);
    ~ArrayContext();
    ArrayContext(const ArrayContext &) = delete;
    ArrayContext &operator=(const ArrayContext &) = delete;

    /// The state of the current context. Throws Error if no context is current.
    static const std::shared_ptr<ArrayContext> &current();

    /// Sets a function that is called when the device is out of memory, before the pool frees its
    /// blocks. The function may run a garbage collector. Applies to pools that are made later.
    static void on_out_of_memory(std::function<void()> reclaim);

    /// The context itself.
    const Context &context() const noexcept { return context_; }
    /// The context's handle, also after the context has ended.
    CUcontext handle() const noexcept { return handle_; }
    /// The pool of the default stream.
    MemoryPool &pool() noexcept { return pool_; }
    /// The pool of another stream; null if `stream` has no pool.
    std::shared_ptr<detail::StreamPool> pool_of(StreamRef stream);
    /// The compiled kernels of array operations.
    KernelTable &kernels() noexcept { return *working().kernels_; }
    /// The handles of NVIDIA's libraries, such as that of cuBLAS.
    LibraryHandles &libraries() noexcept { return *working().libraries_; }
    /// Flags that kernels of the library set if they find an error.
    ErrorFlags &error_flags() noexcept { return *working().error_flags_; }
    /// Facts about the device.
    const DeviceTraits &traits() const noexcept { return traits_; }

    /// A stream for work while others are captured. It waits for the default stream.
    StreamRef side_stream();

    class InCurrent;

  private:
    /// The state whose kernels, handles and flags the thread uses for this context's arrays.
    ArrayContext &working() noexcept {
        return in_current_.load(std::memory_order_relaxed) == 0 ? *this : working_elsewhere();
    }
    ArrayContext &working_elsewhere() noexcept;
    std::shared_ptr<detail::StreamPool> find_pool(CUstream stream);
    void end_pool(CUstream stream) noexcept;
    void free_waiting_blocks() noexcept;

    static inline std::atomic<int> in_current_ = 0; ///< the number of InCurrent

    Context context_;
    const CUcontext handle_ = context_.get();
    MemoryPool pool_;
    CallerMutex pools_mutex_;
    CallerMutex side_mutex_;
    std::optional<Stream> side_;
    std::vector<std::shared_ptr<detail::StreamPool>> pools_; ///< of streams that exist
    std::unique_ptr<KernelTable> kernels_;
    std::shared_ptr<LibraryHandles> libraries_;
    std::unique_ptr<ErrorFlags> error_flags_;
    const DeviceTraits traits_;
};

/// While it exists, the thread's operations take kernels, handles and flags of the current context
/// for arrays of all contexts. For operations with arrays of several contexts of a device.
class [[nodiscard]] ArrayContext::InCurrent {
  public:
    /// Uses ArrayContext::current(). Throws Error if there is no current context.
    InCurrent();
    ~InCurrent();
    InCurrent &operator=(InCurrent &&) = delete; // no copies either
    /// Whether an object exists in any thread.
    static bool any() noexcept { return in_current_.load(std::memory_order_relaxed) != 0; }

  private:
    std::shared_ptr<ArrayContext> current_;
    ArrayContext *outer_;
};

/// An allocator that a thread's arrays use instead of the context's pools.
class ArrayAllocator {
  public:
    virtual ~ArrayAllocator() = default;
    /// Allocates `bytes` bytes, at least 1, for memory whose first write is work of `stream`.
    virtual std::shared_ptr<ArrayMemory> allocate(const std::shared_ptr<ArrayContext> &context,
                                                  std::size_t bytes, StreamRef stream) = 0;
};

/// Memory of one or several arrays: a block of a pool, or memory with another owner.
class ArrayMemory {
  public:
    /// Allocates with the thread's allocator if there is one, else from the pool of `stream`, or of
    /// the graph that is recorded in it. The first write must be work of `stream`.
    static std::shared_ptr<ArrayMemory> allocate(const std::shared_ptr<ArrayContext> &context,
                                                 std::size_t bytes, StreamRef stream);
    /// Allocates from the pool of `stream`, even if the thread has an allocator: for intermediate
    /// results.
    static std::shared_ptr<ArrayMemory> from_pool(const std::shared_ptr<ArrayContext> &context,
                                                  std::size_t bytes, StreamRef stream);
    /// Borrows memory at an address that `owner`, any object, keeps valid. Throws
    /// std::invalid_argument, which names both devices, for memory of another device.
    static std::shared_ptr<ArrayMemory> borrow(const std::shared_ptr<ArrayContext> &context,
                                               CUdeviceptr address, std::size_t bytes,
                                               std::shared_ptr<void> owner);

    /// A block of a pool; `home` is the pool if it is not that of the default stream.
    ArrayMemory(std::shared_ptr<ArrayContext> context, PooledMemory memory,
                std::shared_ptr<detail::StreamPool> home = nullptr);
    /// Memory that `owner` keeps valid.
    ArrayMemory(std::shared_ptr<ArrayContext> context, CUdeviceptr address, std::size_t bytes,
                std::shared_ptr<void> owner);
    ~ArrayMemory();
    ArrayMemory(const ArrayMemory &) = delete;
    ArrayMemory &operator=(const ArrayMemory &) = delete;

    /// The address, for code that accesses the memory without a Work: from now on, nothing is known
    /// about the elements. Throws Error (invalid handle) after free().
    CUdeviceptr get() const {
        expose();
        return address();
    }
    /// The address, for comparisons. Throws as get().
    CUdeviceptr address() const {
        if (freed_) [[unlikely]]
            throw_freed();
        return address_;
    }
    /// Other code has the address, and may change the elements at any time.
    void expose() const noexcept { is_exposed_.store(true, std::memory_order_relaxed); }
    /// The size in bytes.
    std::size_t size() const noexcept { return bytes_; }
    /// True after free().
    bool freed() const noexcept { return freed_; }
    /// Throws the Error of get() after free().
    [[noreturn]] void throw_freed() const;
    /// The state of the context in which the memory is.
    const std::shared_ptr<ArrayContext> &context() const noexcept { return context_; }
    /// The object that keeps borrowed memory valid; null for memory of a pool.
    const std::shared_ptr<void> &owner() const noexcept { return owner_; }

    /// Frees the memory now, even if arrays still use it. Throws Error if it was freed before.
    void free();

  private:
    friend class Work;
    friend class detail::IndexCheck;
    /// Whether work in `stream` is complete before the next use of the memory without an event.
    bool is_at_home(CUstream stream) const noexcept {
        return home_ == nullptr ? stream == nullptr : is_at_other_home(stream);
    }
    bool is_at_other_home(CUstream stream) const noexcept;
    /// Whether the memory is of the pool of a graph, and of this capture.
    bool is_of_graph() const noexcept;
    bool is_of_capture(std::uint64_t capture) const noexcept;
    StreamRef home() const noexcept;
    /// Records that work in a stream other than the home stream uses the memory. The event was
    /// recorded in that stream after the work.
    void used_until(const detail::StreamUse &use);
    /// Whether all uses by streams other than the home stream and the one with this number are
    /// over.
    bool others_are_done(std::uint64_t stream);
    /// The event of the last use by a stream with this number; null if there is none.
    std::shared_ptr<Event> last_use(std::uint64_t stream);
    void give_back() noexcept;
    /// Work may change the elements.
    void forget_bounds() noexcept { bounds_.store(0, std::memory_order_relaxed); }

    std::shared_ptr<ArrayContext> context_;
    std::shared_ptr<detail::StreamPool> home_; ///< null: the default stream
    std::optional<PooledMemory> block_;        ///< none of borrowed memory, and after free()
    std::shared_ptr<void> owner_;
    CUdeviceptr address_ = 0;
    std::size_t bytes_ = 0;
    bool freed_ = false;
    /// Whether no work uses the memory yet: the previous user of the block may still run in the
    /// home stream.
    std::atomic<bool> is_fresh_{true};
    /// Whether a capture used the memory in another stream than the one it was allocated for.
    std::atomic<bool> is_shared_{false};
    /// Whether the elements may change without a Work: borrowed memory, exposed memory, and memory
    /// that a graph uses.
    mutable std::atomic<bool> is_exposed_;
    /// The number of the bounds that are known, or are being found; 0 if none are. Work that may
    /// change the elements stores 0. See arrays/index_check.h.
    std::atomic<std::uint64_t> bounds_{0};
    std::unique_ptr<detail::IndexBounds> known_bounds_; ///< guarded by uses_mutex_
    CallerMutex uses_mutex_;
    std::vector<detail::StreamUse> uses_; ///< each launching thread adds to these
};

/// Sets the allocator of the thread's arrays for a scope; null selects the pools. Scopes of a
/// thread must end in the opposite order.
class [[nodiscard]] AllocatorScope {
  public:
    /// `allocator` must outlive the scope.
    explicit AllocatorScope(ArrayAllocator *allocator) noexcept;
    ~AllocatorScope();
    AllocatorScope(const AllocatorScope &) = delete;
    AllocatorScope &operator=(const AllocatorScope &) = delete;

  private:
    ArrayAllocator *outer_;
};

} // namespace pycuda
