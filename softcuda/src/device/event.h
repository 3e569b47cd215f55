// event.h -- points in streams that can be waited for and timed.
#pragma once

#include "device/command.h"
#include "device/event_share.h"
#include "device/stream.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace softcuda::device {

/// The command that recording an event puts into a stream. Stores the time when it is reached.
class EventMark final : public Command {
  public:
    using Command::Command;
    /// Publishes its number to other processes when it is reached.
    EventMark(Context &context, std::shared_ptr<EventShare> share)
        : Command(context), share_(std::move(share)), number_(share_->record()) {}
    void start() noexcept override;
    /// Monotonic time; valid after the mark is done.
    [[nodiscard]] std::uint64_t nanoseconds() const noexcept { return nanoseconds_; }

  private:
    std::uint64_t nanoseconds_ = 0;
    std::shared_ptr<EventShare> share_;
    std::uint64_t number_ = 0;
};

/// An event. It represents its latest record; an event that was never recorded counts as reached.
class Event {
  public:
    /// `share` is set for events that several processes share.
    Event(Context &context, unsigned flags, std::shared_ptr<EventShare> share = nullptr) noexcept
        : context_(context), flags_(flags), share_(std::move(share)) {}

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] unsigned flags() const noexcept { return flags_; }
    [[nodiscard]] const std::shared_ptr<EventShare> &share() const noexcept { return share_; }

    void record(Stream &stream);

    /// Makes later work of `stream` wait for the latest record.
    void hold(Stream &stream) const;

    /// Whether the latest record is part of a capture, which may have ended.
    [[nodiscard]] bool captured() const;
    /// Whether the event was recorded outside of captures, or is shared.
    [[nodiscard]] bool recorded() const;

    /// These throw Error(invalid value) if captured().
    [[nodiscard]] bool query() const;
    /// As query(), but the race check does not order later work of the program after the event.
    [[nodiscard]] bool is_over() const;
    void synchronize() const;

    /// Throws Error: invalid handle for an event without timing or without a record, not ready.
    [[nodiscard]] float milliseconds_since(const Event &earlier) const;

  private:
    [[nodiscard]] std::shared_ptr<EventMark> mark() const;

    Context &context_;
    unsigned flags_;
    std::shared_ptr<EventShare> share_;
    mutable std::mutex mutex_;
    std::shared_ptr<EventMark> mark_;
    bool captured_ = false;
};

} // namespace softcuda::device
