// event_share.h -- the state of an event that several processes share.
#pragma once

#include <atomic>
#include <cstdint>

namespace softcuda::device {

/// Two numbers in memory that several processes map: the number of records of the event, and the
/// latest record that was reached. Any thread may call any function.
class EventShare {
  public:
    /// Throws Error(out of memory).
    EventShare();
    /// The share that another process created. Takes over `file`; throws Error(invalid value) if it
    /// is not a share.
    explicit EventShare(int file);
    EventShare(const EventShare &) = delete;
    EventShare &operator=(const EventShare &) = delete;
    ~EventShare();

    [[nodiscard]] int file() const noexcept { return file_; }

    /// Counts another record and returns its number.
    std::uint64_t record() noexcept { return ++numbers_->recorded; }
    void reach(std::uint64_t record) noexcept;

    [[nodiscard]] std::uint64_t latest() const noexcept { return numbers_->recorded.load(); }
    [[nodiscard]] bool reached(std::uint64_t record) const noexcept {
        return numbers_->reached.load() >= record;
    }
    /// Polls, because there is no notification.
    void wait(std::uint64_t record) const;

  private:
    struct Numbers {
        std::atomic<std::uint64_t> recorded, reached;
    };
    static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

    void map();

    int file_;
    Numbers *numbers_ = nullptr;
};

} // namespace softcuda::device
