// stream_order.h -- the order of the commands of all streams: a happens-before relation.
//
// Each stream counts its commands. A command has a vector clock: for each stream, the number up to
// which that stream's commands are ordered before it. The clock is the maximum of the clocks of the
// commands that it waits for (see device/timeline.h) and of the host's clock when it was enqueued.
// The host's clock includes a command, and the command's clock, after the host has waited for the
// command or a query has found it done. All threads of the host share one clock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace softcuda::check {

class CommandOrder {
  public:
    /// The number of streams that are distinguished. With more streams, some share a number, and
    /// their commands count as ordered.
    static constexpr unsigned kStreams = 64;

    CommandOrder(std::uint32_t stream, std::uint32_t number) : stream_(stream), number_(number) {}

    /// Records that the command `earlier` is done before this one starts.
    void follow(const CommandOrder &earlier) noexcept;
    [[nodiscard]] bool comes_after(const CommandOrder &earlier) const noexcept {
        return earlier.number_ <= (earlier.stream_ == stream_ ? number_ : known_[earlier.stream_]);
    }

    // The host's clock. Any thread may call.
    void order_before_host() const noexcept;
    void ask_host() noexcept;

  private:
    using Numbers = std::array<std::uint32_t, kStreams>;
    static void join(Numbers &into, const Numbers &from) noexcept;
    struct Host;
    static Host &host();

    std::uint32_t stream_, number_;
    Numbers known_{};
};

/// Numbers the commands of one stream.
class CommandCounter {
  public:
    CommandCounter() = default;
    CommandCounter(const CommandCounter &) = delete;
    CommandCounter &operator=(const CommandCounter &) = delete;
    ~CommandCounter();

    /// The clock of the stream's next command, which includes the host's clock. Null if races are
    /// not checked. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<CommandOrder> next();

  private:
    static constexpr std::uint32_t kNone = ~0u;
    std::uint32_t stream_ = kNone;
};

} // namespace softcuda::check
