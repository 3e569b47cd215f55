// context.h -- the state of a program on one device.
#pragma once

#include <pycuda/device.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace pycuda {

namespace detail {
struct ContextOwner;
class StreamSet;
} // namespace detail

/// A shared reference to a context. Each object made in a context holds one, so that the context
/// outlives it. The driver knows which context is current, so this library and other libraries see
/// the same current context.
class Context {
  public:
    /// Retains the primary context, which torch, CuPy and the CUDA runtime use too. Does not make
    /// the context current. Flags other than 0 are set before the context is first used.
    static Context primary(const Device &device, unsigned flags = 0);
    /// Creates a context in addition to the primary context. Does not make the new context current.
    static Context create(const Device &device, unsigned flags = 0);
    /// Takes over a context made with cuCtxCreate; destroys it at the end.
    static Context adopt(CUcontext handle);
    /// Uses a context that someone else keeps alive.
    static Context borrow(CUcontext handle);

    /// The current context of this thread, also if another library made it current.
    static std::optional<Context> current();
    /// As current(). If no context is current, the default context becomes current in this thread.
    /// Throws Error (invalid context) if there is no default either.
    static Context require_current();

    /// Sets the default context, which threads without a current context use. Thread pools then
    /// need no set-up. There is no default at first. The default is kept until it is replaced or
    /// detached. Any thread may call.
    static void set_default(std::optional<Context> context);
    /// The default context; empty if there is none.
    static std::optional<Context> get_default();

    /// The driver's handle.
    CUcontext get() const noexcept;
    /// A number that identifies this context in the process, even if an earlier or later context
    /// has the same handle. 0 if this is no context.
    std::uint64_t serial() const noexcept;
    /// The device of the context. Throws Error.
    Device device() const;
    /// The version of the API with which the context was made (cuCtxGetApiVersion).
    unsigned api_version() const;

    /// Pushes the context on this thread's stack: it becomes current.
    void push() const;
    /// Removes and returns the top of this thread's stack. Throws if the stack is empty.
    static Context pop();
    /// Replaces the top of this thread's stack.
    void make_current() const;
    /// Whether the context is current in this thread.
    bool is_current() const;

    /// Ends this reference, and pops the context if it is the top of this thread's stack. A context
    /// that create() made is destroyed now, unless a ContextHold keeps it. A primary context, or
    /// one that a ContextHold keeps, is released with the last object in it. Throws if detach() was
    /// called before.
    void detach();
    /// False after detach().
    bool attached() const noexcept;
    /// False after the context was destroyed or released: it cannot be used any more.
    bool usable() const noexcept;

    /// Registers a function that is called before the context is destroyed, reset or released for
    /// the last time by this library, with the context current. It replaces an earlier one of the
    /// same name. For state that is kept for each context but must not keep the context alive.
    /// Returns false and registers nothing if other code destroys the context. `action` must not
    /// throw.
    bool before_end(std::string_view name, std::function<void()> action) const;

    /// As above for a stream of the context: `action` is called before the stream is destroyed.
    /// Returns false for a stream that other code destroys.
    bool before_stream_ends(CUstream stream, std::function<void()> action) const;

    /// Waits for all work in this context.
    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    /// A limit of the context, such as the stack of a thread (CU_LIMIT_STACK_SIZE, in bytes).
    std::size_t limit(CUlimit limit) const;
    /// Sets a limit. The driver may round the value up. Throws Error.
    void set_limit(CUlimit limit, std::size_t value) const;
    /// The preferred division between first-level cache and shared memory.
    CUfunc_cache cache_config() const;
    /// Sets the preferred division; a kernel can have its own.
    void set_cache_config(CUfunc_cache config) const;
    /// The width of the banks of shared memory.
    CUsharedconfig shared_config() const;
    /// Sets the width of the banks. Newer devices ignore the value.
    void set_shared_config(CUsharedconfig config) const;
    /// Allows kernels and copies of this context to access memory of `peer`.
    void enable_peer_access(const Context &peer, unsigned flags = 0) const;
    /// Ends the access. Throws Error if it was not enabled.
    void disable_peer_access(const Context &peer) const;
    /// Whether enable_peer_access() or another library has allowed it.
    bool has_peer_access(const Context &peer) const;

    /// The device's memory in bytes: free now, and in all.
    struct MemoryInfo {
        /// In bytes.
        std::size_t free = 0;
        /// In bytes.
        std::size_t total = 0;
    };
    /// Asks the driver. Throws Error.
    MemoryInfo memory_info() const;

    /// Equal if both are the same context of the driver.
    bool operator==(const Context &other) const noexcept { return get() == other.get(); }

  private:
    friend class Stream;
    friend class ContextHold;
    /// Null if this is no context.
    detail::StreamSet *streams() const noexcept;
    explicit Context(std::shared_ptr<detail::ContextOwner> owner) : owner_(std::move(owner)) {}
    std::shared_ptr<detail::ContextOwner> owner_;
};

/// Prevents detach() from destroying a context. For host memory that the driver frees with its
/// context, while the host may still access the memory.
class ContextHold {
  public:
    /// Holds `context` until reset() or the end of this object.
    explicit ContextHold(const Context &context);
    ContextHold(ContextHold &&) noexcept = default;
    ContextHold &operator=(ContextHold &&) noexcept;
    ~ContextHold();

    /// Ends the hold now.
    void reset() noexcept;

  private:
    std::shared_ptr<detail::ContextOwner> owner_;
};

/// Makes a context current for a scope, and restores the previous current context at the end.
class [[nodiscard]] ScopedContext {
  public:
    /// Pushes `context` on this thread's stack, unless it is current. Throws Error.
    explicit ScopedContext(const Context &context);
    ~ScopedContext();
    ScopedContext(const ScopedContext &) = delete;
    ScopedContext &operator=(const ScopedContext &) = delete;

  private:
    bool pushed_ = false;
};

} // namespace pycuda

template <> struct std::hash<pycuda::Context> {
    std::size_t operator()(const pycuda::Context &context) const noexcept {
        return std::hash<CUcontext>{}(context.get());
    }
};
