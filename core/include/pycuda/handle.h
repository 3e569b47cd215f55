// handle.h -- the owner of a driver object, used for all kinds of objects.
#pragma once

#include <pycuda/context.h>

#include <cuda.h>

#include <utility>

namespace pycuda {

namespace detail {

/// Runs `call(data)` with `context` current; for destructors. Does nothing if the process is ending
/// or the context was destroyed. A failure prints one line with `function` to stderr.
void run_cleanup(const Context &context, const char *function, CUresult (*call)(void *),
                 void *data) noexcept;

/// Throws Error (invalid context): the context of `what` was destroyed.
[[noreturn]] void throw_context_ended(const char *what);

} // namespace detail

/// Owns one driver object and keeps its context alive, or borrows an object that other code owns.
template <class Raw, CUresult (*Destroy)(Raw)> class Handle {
  public:
    /// Owns `raw`, and destroys it at the end.
    static Handle adopt(Raw raw, Context context) { return {raw, std::move(context), true}; }
    /// Uses `raw`, which other code destroys.
    static Handle borrow(Raw raw, Context context) { return {raw, std::move(context), false}; }

    Handle(Handle &&other) noexcept
        : raw_(std::exchange(other.raw_, Raw{})), context_(std::move(other.context_)),
          owned_(std::exchange(other.owned_, false)) {}
    Handle &operator=(Handle &&other) noexcept {
        if (this != &other) {
            reset();
            raw_ = std::exchange(other.raw_, Raw{});
            context_ = std::move(other.context_);
            owned_ = std::exchange(other.owned_, false);
        }
        return *this;
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    ~Handle() { reset(); }

    /// The object; null after reset() or a move.
    Raw get() const noexcept { return raw_; }
    /// As get(), but throws Error (invalid context) if the object ended with its context. A driver
    /// may read freed memory if a call names such an object.
    Raw live(const char *what) const {
        if (raw_ != Raw{} && !context_.usable()) [[unlikely]]
            detail::throw_context_ended(what);
        return raw_;
    }
    /// The context of the object.
    const Context &context() const noexcept { return context_; }
    /// Whether reset() destroys the object.
    bool owned() const noexcept { return owned_; }

    /// Releases the ownership without destroying the object.
    Raw release() noexcept {
        owned_ = false;
        return std::exchange(raw_, Raw{});
    }

    /// Destroys the object now.
    void reset() noexcept {
        // Another thread may call reset(), too, while the driver waits.
        Raw raw = std::exchange(raw_, Raw{});
        if (std::exchange(owned_, false))
            detail::run_cleanup(
                context_, "releasing an object of the driver",
                [](void *raw) { return Destroy(*static_cast<Raw *>(raw)); }, &raw);
    }

  private:
    Handle(Raw raw, Context context, bool owned)
        : raw_(raw), context_(std::move(context)), owned_(owned) {}
    Raw raw_;
    Context context_;
    bool owned_;
};

} // namespace pycuda
