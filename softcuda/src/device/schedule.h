// schedule.h -- an unusual order of the commands of different streams, to find a forgotten order.
//
// Streams run their commands as soon as possible, so a program that forgot an event usually gets
// the right result. With SOFTCUDA_SCHEDULE=seed, a command that could start is held instead. One
// thread starts held commands, each when the previous one is done. Every command has a level, a
// random number that few commands of a stream change:
//
//     stream A, level 90:  [copy] [kernel]      start within the call that enqueues them
//     stream B, level 40:  [kernel]             start while the host waits for some command:
//     stream C, level 10:  [copy]               the highest level first, until that one is done
//
// So the order is one that CUDA permits, and stream C may lag behind A for a long time. If the host
// makes no calls for a while, held commands start, too: programs may poll memory.
#pragma once

#include "device/command.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::device {

/// The level of a stream's latest command.
struct StreamLevel {
    std::uint64_t commands = 0;
    std::uint32_t level = 0;
};

/// Never destroyed. Any thread may call any function.
class Schedule {
  public:
    /// Throws std::system_error if there is no thread.
    explicit Schedule(std::uint64_t seed);
    Schedule(const Schedule &) = delete;

    /// The level of the next command of the stream with this number.
    void draw(StreamLevel &level, std::uint64_t stream) const noexcept;

    /// Holds a command that could start. Takes no other lock.
    void hold(std::shared_ptr<Command> command);
    /// Returns when all commands that do not wait for the host are done; or when one of them takes
    /// long, since it may need what the calling thread does next.
    void settle();
    /// Starts one held command: the client has asked whether some command is done.
    void advance();

    /// A random number less than `limit`, which must not be 0.
    [[nodiscard]] std::size_t choose(std::size_t limit) noexcept;

    /// Called when a command is done.
    void note_done() noexcept;

    /// While it exists, held commands start until `command` is done; its end settles the rest.
    class Wait {
      public:
        Wait(Schedule *schedule, const Command &command);
        Wait(const Wait &) = delete;
        ~Wait();

      private:
        Schedule *schedule_; ///< or null
        const Command &command_;
    };

    /// While it exists, the calling thread is one of the driver's own: settle() and advance()
    /// return at once.
    class DriverThread {
      public:
        DriverThread() noexcept;
        DriverThread(const DriverThread &) = delete;
        ~DriverThread();

      private:
        bool outer_;
    };

  private:
    using Clock = std::chrono::steady_clock;
    using Held = std::vector<std::shared_ptr<Command>>;

    [[noreturn]] void loop();
    [[nodiscard]] Held::iterator first_locked() noexcept;
    [[nodiscard]] bool may_start_locked(const Command &command) const noexcept;
    [[nodiscard]] bool is_quiet_locked() noexcept;
    void wait_until_quiet(std::unique_lock<std::mutex> &lock);
    void wait_for_end(std::unique_lock<std::mutex> &lock, const Command &command);
    void note_call_locked() noexcept;

    const std::uint64_t seed_;
    std::mutex mutex_;
    std::condition_variable changed_; ///< of anything below
    Held held_;
    std::vector<const Command *> waited_for_;
    unsigned steps_ = 0;            ///< commands to start for advance()
    bool running_ = false;          ///< the thread has started a command and waits for its end
    std::uint64_t given_up_ = 0;    ///< commands for whose end it did not wait
    Clock::time_point host_called_; ///< the latest time
    Clock::duration patience_;      ///< the time without calls after which a command starts
    std::uint64_t choices_ = 0;
};

} // namespace softcuda::device
