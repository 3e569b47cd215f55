// context_owner.h -- what the copies of a Context share.
#pragma once

#include <pycuda/context.h>
#include <pycuda/event.h>

#include <pycuda/driver.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace pycuda::detail {

/// The streams of a context that were made or adopted here, so that a wait for the whole context
/// can ask each of them. Any thread may call.
class StreamSet {
  public:
    /// `owned`: the stream is destroyed here, and by nobody else.
    void add(CUstream stream, bool owned);
    /// To be called before the stream is destroyed, with its context current. Runs the stream's
    /// last actions; returns when nobody is asking it.
    void remove(CUstream stream) noexcept;
    /// False where the stream is not one that is destroyed here.
    bool before_end(CUstream stream, std::function<void()> action);
    /// An event behind the work of each stream that has any, but for those that record a graph.
    std::vector<Event> mark_busy(const Context &context) const;

  private:
    struct Entry {
        CUstream stream;
        bool owned;
        std::vector<std::function<void()>> last_actions;
    };
    mutable std::mutex mutex_;
    std::vector<Entry> streams_;
};

/// Holds a context as long as any Context or object in it lives.
struct ContextOwner {
    enum class Hold {
        Primary,  // released at the end
        Own,      // destroyed at the end, or when detached
        Borrowed, // someone else's
    };

    ContextOwner(CUcontext handle, CUdevice device, Hold hold) noexcept
        : handle(handle), device(device), hold(hold) {}
    ~ContextOwner();
    ContextOwner(const ContextOwner &) = delete;
    ContextOwner &operator=(const ContextOwner &) = delete;

    /// Gives the context back to the driver, once.
    CUresult give_back() noexcept;
    void add_last_action(std::function<void()> action);

    const CUcontext handle;
    const CUdevice device;
    const Hold hold;
    const std::uint64_t serial = next_serial();
    StreamSet streams;
    std::atomic<int> holds{0}; // host memory that would go with the context
    std::atomic<bool> attached{true};
    std::atomic<bool> gone{false}; // given back: nothing can be done in it any more

  private:
    static std::uint64_t next_serial() noexcept;
    void run_last_actions(const Driver &loaded) noexcept;

    std::mutex mutex_;
    std::vector<std::function<void()>> last_actions_;
};

} // namespace pycuda::detail
