// stream.h -- a queue of work on a device.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>
#include <pycuda/wait.h>

#include <cuda.h>

#include <cstdint>

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
    /// As above, in this context.
    explicit Stream(const Context &context, unsigned flags = CU_STREAM_DEFAULT, int priority = 0);
    /// Takes over a stream from cuStreamCreate; destroys it at the end.
    static Stream adopt(CUstream handle, Context context);
    /// Uses a stream that other code destroys.
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
    /// The context of the stream.
    const Context &context() const noexcept { return handle_.context(); }

    /// Waits for all work in the stream. Throws Error, also for a kernel that failed.
    void synchronize(const KeepWaiting &keep_waiting = {}) const;

    /// True once all work in the stream is done.
    [[nodiscard]] bool query() const;

    /// Later work of the stream waits for `event`.
    void wait(const Event &event) const;

    /// A smaller number means a higher priority. Throws Error.
    int priority() const;
    /// The flags of the stream, CU_STREAM_*. Throws Error.
    unsigned flags() const;

    /// Destroys the stream now. Its queued work still runs. get() is null afterwards.
    void close() noexcept;
    /// True after close().
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
    /// A raw handle. Null is the legacy default stream.
    constexpr StreamRef(CUstream handle) noexcept : handle_(handle) {}
    /// Throws Error if the stream was closed or its context has ended.
    StreamRef(const Stream &stream) : handle_(stream.require()) {}

    /// The handle; null for the legacy default stream.
    constexpr CUstream get() const noexcept { return handle_; }
    /// Whether this is the legacy default stream: either of its two handles.
    bool is_default() const noexcept { return handle_ == nullptr || handle_ == CU_STREAM_LEGACY; }

  private:
    CUstream handle_ = nullptr;
};

/// The stream of an operation's options. It has no default, so that no code forgets the stream: a
/// part of an operation works in the stream of the whole operation.
class GivenStream : public StreamRef {
  public:
    /// The stream of the whole operation.
    GivenStream(StreamRef stream) noexcept : StreamRef(stream) {}
    /// Throws as StreamRef(stream).
    GivenStream(const Stream &stream) : StreamRef(stream) {}
};

/// The stream of this thread's work that names none: that of the innermost StreamScope if it
/// belongs to the current context, else the default stream. Call it after the context of the work
/// has been made current (see work.h). Throws Error if the scope's stream was closed.
StreamRef current_stream();

/// A stream as a thread's current stream.
struct CurrentStream {
    CurrentStream() noexcept = default; ///< the default stream
    /// Keeps a pointer to the stream. Throws Error if it was closed or its context has ended.
    CurrentStream(const Stream &stream);
    /// Of a stream of which only the handle is known.
    CurrentStream(StreamRef stream);

    CUstream handle = nullptr;      ///< null: the default stream
    CUcontext context = nullptr;    ///< null: the stream belongs to each context
    const Stream *object = nullptr; ///< knows whether the stream was closed; null for a handle
};

/// Sets the thread's current stream, and returns the previous one. A Stream must outlive its use.
/// Prefer a StreamScope.
CurrentStream exchange_current_stream(CurrentStream stream) noexcept;

/// Makes a stream current in this thread for a scope. Scopes of a thread must end in the opposite
/// order.
class [[nodiscard]] StreamScope {
  public:
    /// Makes `stream` this thread's current stream until the end of the scope.
    explicit StreamScope(StreamRef stream) : outer_(exchange_current_stream(stream)) {}
    ~StreamScope() { exchange_current_stream(outer_); }
    StreamScope(const StreamScope &) = delete;
    StreamScope &operator=(const StreamScope &) = delete;

  private:
    CurrentStream outer_;
};

/// A number that no other stream of the process has or gets: a handle may be that of a later
/// stream. 0 if the driver is older than CUDA 12, and during a capture that forbids the question.
std::uint64_t stream_id(StreamRef stream) noexcept;

/// Waits for a stream of which only the handle is known. The context of the stream must be current.
/// Throws Error, and leaves the capture valid, if the stream is being captured.
void synchronize(StreamRef stream, const KeepWaiting &keep_waiting = {});

} // namespace pycuda
