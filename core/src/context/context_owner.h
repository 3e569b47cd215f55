// context_owner.h -- the state that the copies of a Context share.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/event.h>

#include <pycuda/driver.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda::detail {

/// The streams of a context that were created or adopted by this library, so that a wait for the
/// whole context can query each of them. Any thread may call.
class StreamSet {
  public:
    /// `owned`: this library destroys the stream, and no other code does.
    void add(CUstream stream, bool owned);
    /// Call it before the stream is destroyed, with its context current. Runs the registered
    /// actions, and returns when no thread queries the stream.
    void remove(CUstream stream) noexcept;
    /// False if this library does not destroy the stream.
    bool before_end(CUstream stream, std::function<void()> action);
    /// Records an event after the work of each stream that has work. Streams that record a graph
    /// are skipped.
    std::vector<Event> mark_busy(const Context &context) const;

  private:
    struct Entry {
        CUstream stream;
        bool owned;
        std::vector<std::function<void()>> last_actions;
    };
    mutable CallerMutex mutex_;
    std::vector<Entry> streams_;
};

/// What the owners of one context share.
class ContextState {
  public:
    StreamSet streams;
    std::atomic<int> holders{0}; ///< owners that will destroy or release the context

    void before_end(std::string_view name, std::function<void()> action);
    /// Runs the registered actions, with the context current.
    void end(const Driver &loaded, CUcontext context) noexcept;

  private:
    CallerMutex mutex_;
    std::map<std::string_view, std::function<void()>> last_actions_;
};

/// Owns a context as long as a Context or an object of the context exists.
struct ContextOwner {
    enum class Hold {
        Primary,  // released at the end
        Own,      // destroyed at the end, or when detached
        Borrowed, // someone else's
    };

    ContextOwner(CUcontext handle, CUdevice device, Hold hold, std::shared_ptr<ContextState> state)
        : handle(handle), device(device), hold(hold), state(std::move(state)) {
        this->state->holders += hold != Hold::Borrowed;
    }
    ~ContextOwner();
    ContextOwner &operator=(ContextOwner &&) = delete; // no copies either

    /// Destroys or releases the context, once.
    CUresult give_back() noexcept;

    const CUcontext handle;
    const CUdevice device;
    const Hold hold;
    const std::uint64_t serial = next_serial();
    const std::shared_ptr<ContextState> state; ///< all owners of a context have the same
    std::atomic<int> holds{0};                 // host memory that would be freed with the context
    std::atomic<bool> attached{true};
    std::atomic<bool> gone{false}; // destroyed or released: the context cannot be used any more
    std::atomic<CUevent> spare_mark{nullptr}; // an event that no wait uses

  private:
    static std::uint64_t next_serial() noexcept;
};

/// An event for one wait for a whole context, which is current. The next wait uses it again. Errors
/// are those of `function`.
class ContextMark {
  public:
    ContextMark(ContextOwner &owner, const char *function)
        : owner_(owner), event_(owner.spare_mark.exchange(nullptr)) {
        if (event_ == nullptr)
            check(driver().cuEventCreate.status(&event_, CU_EVENT_DISABLE_TIMING), function);
    }
    ~ContextMark() {
        const CUevent other = owner_.spare_mark.exchange(event_);
        if (other != nullptr)
            static_cast<void>(driver().cuEventDestroy.status(other)); // of a wait in another thread
    }
    ContextMark &operator=(ContextMark &&) = delete; // no copies either
    [[nodiscard]] CUevent get() const noexcept { return event_; }

  private:
    ContextOwner &owner_;
    CUevent event_;
};

} // namespace pycuda::detail
