// command.h -- one operation in a stream.
#pragma once

#include "check/stream_order.h"
#include "profile/record.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::device {

class Context;

/// Whether the client knows that the work is done after a wait: if the client requested the wait.
enum class HostNotified { Yes, No };

/// An operation of a stream: a kernel, a copy, a host function, the mark of an event. It starts
/// when all commands that must precede it are done; see timeline.h.
class Command : public std::enable_shared_from_this<Command> {
  public:
    explicit Command(Context &context) noexcept : context_(context) {}
    Command(const Command &) = delete;
    Command &operator=(const Command &) = delete;
    virtual ~Command() = default;

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire) != 0; }

    /// Returns when the command is done; helps with its work if possible.
    void wait();
    /// As wait(), but returns false if the client stops the wait; see client_question.h.
    [[nodiscard]] bool wait_unless_given_up(HostNotified notified = HostNotified::Yes);

    /// The command's order; null if races are not checked. Complete when the command starts.
    [[nodiscard]] const check::CommandOrder *order() const noexcept { return order_.get(); }
    /// The client knows that the command is done, or can see its effects.
    void order_before_host() const noexcept {
        if (order_)
            order_->order_before_host();
    }
    /// The unfinished command has waited for an event that the timeline does not know: everything
    /// that the client knows may precede it.
    void ask_host() noexcept {
        if (order_)
            order_->ask_host();
    }

    /// Which command starts first if both could; see schedule.h.
    [[nodiscard]] std::uint32_t level() const noexcept { return level_; }

    /// Whether a function of the client runs: it may wait for what any thread of the client does.
    [[nodiscard]] virtual bool calls_client() const noexcept { return false; }

    /// Does the work or passes it to another thread, which calls Timeline::finish() once. Called
    /// once, by any thread, without locks.
    virtual void start() noexcept = 0;

  protected:
    /// Records the begin of the command's own work for the profile. Call it once, before the
    /// command is finished.
    void note_begin() noexcept;
    /// The time in monotonic nanoseconds; 0 if the timeline is off.
    [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }

  private:
    friend class Timeline;

    /// Does a part of the work on the calling thread, if there is work left.
    virtual void help() {}
    /// The event for the profile. Throws std::bad_alloc. For commands that call note_begin().
    [[nodiscard]] virtual profile::Event described() const { return {}; }
    void note_end() const noexcept;

    Context &context_;
    std::atomic<std::uint32_t> done_{0};
    std::unique_ptr<check::CommandOrder> order_;
    std::uint64_t stream_ = 0; ///< for the profile: Stream::id(), 1 for the default stream
    std::uint64_t begun_ = 0;  ///< monotonic nanoseconds; 0: not profiled
    std::uint32_t level_ = 0;  ///< set before the command could start
    // Guarded by the timeline's mutex:
    unsigned blockers_ = 0; ///< commands that must be done first
    bool is_work_ = false;  ///< it is in a stream
    std::vector<std::shared_ptr<Command>> followers_;
};

} // namespace softcuda::device
