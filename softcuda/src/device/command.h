// command.h -- one piece of work in a stream.
#pragma once

#include "check/stream_order.h"
#include "profile/record.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace softcuda::device {

class Context;

/// Whether a wait is one that the client asked for: then it knows what was done.
enum class HostLearns { Yes, No };

/// Something that a stream does: a kernel, a copy, a host function, a mark for an event. It starts
/// when all that the rules put before it is done; see timeline.h.
class Command : public std::enable_shared_from_this<Command> {
  public:
    explicit Command(Context &context) noexcept : context_(context) {}
    Command(const Command &) = delete;
    Command &operator=(const Command &) = delete;
    virtual ~Command() = default;

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire) != 0; }

    /// Returns when the command is done; helps with its work where that is possible.
    void wait();
    /// The same, but false where the client gave up before: see client_question.h.
    [[nodiscard]] bool wait_unless_given_up(HostLearns learns = HostLearns::Yes);

    /// What it comes after; null where races are not looked for. Complete when it starts.
    [[nodiscard]] const check::CommandOrder *order() const noexcept { return order_.get(); }
    /// The client has heard that the command is done, or can see what it does.
    void tell_host() const noexcept {
        if (order_)
            order_->tell_host();
    }
    /// The command, which has not been finished yet, has waited for what the timeline does not
    /// know: of all that the client knows it may be anything.
    void ask_host() noexcept {
        if (order_)
            order_->ask_host();
    }

    /// Does the work, or hands it to a thread that will, and sees to it that Timeline::finish() is
    /// called once. Called once, by any thread, with no lock held.
    virtual void start() noexcept = 0;

  protected:
    /// The command's own work begins now: for the profile. Once, before it is finished.
    void note_begin() noexcept;
    /// The time in monotonic nanoseconds; 0 if the timeline is off.
    [[nodiscard]] std::uint64_t begun() const noexcept { return begun_; }

  private:
    friend class Timeline;

    /// Does a part of the work on the calling thread, if there is work left.
    virtual void help() {}
    /// What the profile calls it. Throws std::bad_alloc. For commands that call note_begin().
    [[nodiscard]] virtual profile::Event described() const { return {}; }
    void note_end() const noexcept;

    Context &context_;
    std::atomic<std::uint32_t> done_{0};
    std::unique_ptr<check::CommandOrder> order_;
    std::uint64_t stream_ = 0; ///< for the profile: Stream::id(), 1 for the default stream
    std::uint64_t begun_ = 0;  ///< monotonic nanoseconds; 0: not profiled
    // Guarded by the timeline's mutex:
    unsigned blockers_ = 0; ///< commands that must be done first
    std::vector<std::shared_ptr<Command>> followers_;
};

} // namespace softcuda::device
