// context.h -- what a program does on one device lives in a context.
#pragma once

#include <pycuda/device.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace pycuda {

namespace detail {
struct ContextOwner;
class StreamSet;
} // namespace detail

/// A shared reference to a context. Each object made in a context holds one, so that the context
/// outlives it. Which context is current is the driver's own knowledge: contexts that other
/// libraries made current are seen here, and the other way round.
class Context {
  public:
    /// Retains the primary context, the one that torch, CuPy and the CUDA runtime use too. It is
    /// not made current. Flags other than 0 are set before it is first used.
    static Context primary(const Device &device, unsigned flags = 0);
    /// A new context beside the primary one. It is not made current.
    static Context create(const Device &device, unsigned flags = 0);
    /// Takes over a context made with cuCtxCreate; destroys it at the end.
    static Context adopt(CUcontext handle);
    /// Uses a context that someone else keeps alive.
    static Context borrow(CUcontext handle);

    /// The one that is current in this thread, whoever made it so.
    static std::optional<Context> current();
    /// The same; where there is none, the default one is made current in this thread. Throws Error
    /// (invalid context) where there is no default either.
    static Context require_current();

    /// Names the context of threads that have none, so that pools of threads need no set-up. None
    /// at first. The default is kept until it is replaced or detached. Any thread may call.
    static void set_default(std::optional<Context> context);
    static std::optional<Context> get_default();

    CUcontext get() const noexcept;
    /// Tells this context from all others of the process, those with the same handle included that
    /// were or will be. 0 where this stands for no context.
    std::uint64_t serial() const noexcept;
    Device device() const;
    unsigned api_version() const;

    /// Makes it current on top of this thread's stack.
    void push() const;
    /// Takes the top off this thread's stack and returns it. Throws where the stack is empty.
    static Context pop();
    /// Replaces the top of this thread's stack.
    void make_current() const;
    bool is_current() const;

    /// Gives up this reference: takes it off this thread's stack where it is on top, and destroys
    /// a context of our own at once, or releases a primary one when the last object in it is
    /// gone. One of our own that a ContextHold keeps goes with the last object in it, too. Throws
    /// when called twice.
    void detach();
    /// False after detach().
    bool attached() const noexcept;
    /// False once the driver has it back: nothing can be done in it any more.
    bool usable() const noexcept;

    /// Has `action` called, with the context current, before it is given back to the driver. For
    /// what is kept for each context, but must not keep it alive. False, and nothing is noted,
    /// where somebody else gives the context back. `action` must not throw.
    bool before_release(std::function<void()> action) const;

    /// The same for a stream of the context: `action` is called before the stream is destroyed.
    /// False, and nothing is noted, for a stream that somebody else destroys.
    bool before_stream_ends(CUstream stream, std::function<void()> action) const;

    /// Waits for all work in this context.
    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    std::size_t limit(CUlimit limit) const;
    void set_limit(CUlimit limit, std::size_t value) const;
    CUfunc_cache cache_config() const;
    void set_cache_config(CUfunc_cache config) const;
    CUsharedconfig shared_config() const;
    void set_shared_config(CUsharedconfig config) const;
    /// Lets kernels and copies of this context reach memory of `peer`.
    void enable_peer_access(const Context &peer, unsigned flags = 0) const;
    void disable_peer_access(const Context &peer) const;

    struct MemoryInfo {
        std::size_t free = 0;
        std::size_t total = 0;
    };
    MemoryInfo memory_info() const;

    /// Equal where it is the same context of the driver.
    bool operator==(const Context &other) const noexcept { return get() == other.get(); }

  private:
    friend class Stream;
    friend class ContextHold;
    /// Null where this stands for no context.
    detail::StreamSet *streams() const noexcept;
    explicit Context(std::shared_ptr<detail::ContextOwner> owner) : owner_(std::move(owner)) {}
    std::shared_ptr<detail::ContextOwner> owner_;
};

/// For host memory that ends with its context, and that the host may read or write at any time:
/// while this lives, detach() does not destroy the context.
class ContextHold {
  public:
    explicit ContextHold(const Context &context);
    ContextHold(ContextHold &&) noexcept = default;
    ContextHold &operator=(ContextHold &&) noexcept;
    ~ContextHold();

    void reset() noexcept;

  private:
    std::shared_ptr<detail::ContextOwner> owner_;
};

/// Makes a context current for a scope, and restores what was current before.
class [[nodiscard]] ScopedContext {
  public:
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
