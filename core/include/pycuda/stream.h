// stream.h -- a queue of work on a device.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>
#include <pycuda/wait.h>

#include <cuda.h>

namespace pycuda {

class Event;

namespace detail {
CUresult destroy_stream(CUstream stream);
}

/// A queue of work. Owns its CUstream and keeps its context alive.
class Stream {
  public:
    /// In the current context. A lower priority number is more urgent.
    explicit Stream(unsigned flags = CU_STREAM_DEFAULT, int priority = 0);
    explicit Stream(const Context &context, unsigned flags = CU_STREAM_DEFAULT, int priority = 0);
    static Stream adopt(CUstream handle, Context context);
    static Stream borrow(CUstream handle, Context context);

    Stream(Stream &&) noexcept = default;
    Stream &operator=(Stream &&other) noexcept;
    ~Stream() { reset(); }

    /// The stream's handle; null after close(), and for a borrowed default stream.
    CUstream get() const noexcept { return handle_.get(); }
    /// As get(), but throws Error after close(), because null would mean the default stream, and
    /// after the end of the stream's context.
    CUstream require() const {
        if (closed_) [[unlikely]]
            throw_closed();
        return handle_.live("stream");
    }
    const Context &context() const noexcept { return handle_.context(); }

    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    /// True once all work in the stream is done.
    [[nodiscard]] bool query() const;

    /// Later work of the stream waits for `event`.
    void wait(const Event &event) const;

    int priority() const;
    unsigned flags() const;

    /// Destroys the stream now. Its queued work still runs. get() is null afterwards.
    void close() noexcept;
    bool closed() const noexcept { return closed_; }

  private:
    using Owner = Handle<CUstream, detail::destroy_stream>;
    explicit Stream(Owner handle);
    void reset() noexcept;
    [[noreturn]] static void throw_closed();
    Owner handle_;
    bool closed_ = false;
};

/// A stream as an argument of a call: a Stream, a raw handle, or the default stream.
class StreamRef {
  public:
    /// The legacy default stream. It and all blocking streams wait for each other.
    constexpr StreamRef() noexcept = default;
    constexpr StreamRef(CUstream handle) noexcept : handle_(handle) {}
    StreamRef(const Stream &stream) : handle_(stream.require()) {}

    constexpr CUstream get() const noexcept { return handle_; }
    /// Whether this is the legacy default stream: either of its two handles.
    bool is_default() const noexcept { return handle_ == nullptr || handle_ == CU_STREAM_LEGACY; }

  private:
    CUstream handle_ = nullptr;
};

/// The stream that this thread's array operations use by default: that of the innermost
/// StreamScope, else the default stream.
StreamRef current_stream() noexcept;

/// Sets the thread's current stream, and returns the previous one. Prefer a StreamScope.
StreamRef exchange_current_stream(StreamRef stream) noexcept;

/// Makes a stream current in this thread for a scope. Scopes of a thread must end in the opposite
/// order.
class [[nodiscard]] StreamScope {
  public:
    explicit StreamScope(StreamRef stream) noexcept : outer_(exchange_current_stream(stream)) {}
    ~StreamScope() { exchange_current_stream(outer_); }
    StreamScope(const StreamScope &) = delete;
    StreamScope &operator=(const StreamScope &) = delete;

  private:
    StreamRef outer_;
};

/// Waits for a stream of which only the handle is known. The context of the stream must be current.
void synchronize(StreamRef stream, const KeepWaiting &keep_waiting = {});

} // namespace pycuda
