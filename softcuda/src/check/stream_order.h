// stream_order.h -- which commands of all streams come before which: a happens-before relation.
//
// Each stream counts its commands. A command keeps, for each stream, up to which number that
// stream's commands come before it (a vector clock). It takes over what those knew that it waits
// for (device/timeline.h says which), and what the host knew when it enqueued the command: the host
// knows a command, and what that knew, once it has waited for it, or has asked and heard that it
// is done. What one thread of the host knows, all are taken to know.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace softcuda::check {

class CommandOrder {
  public:
    /// So many streams are told apart; where there are more, some share a number, and commands of
    /// those count as ordered.
    static constexpr unsigned kStreams = 64;

    CommandOrder(std::uint32_t stream, std::uint32_t number) : stream_(stream), number_(number) {}

    /// `earlier` is done when this one starts.
    void follow(const CommandOrder &earlier) noexcept;
    [[nodiscard]] bool comes_after(const CommandOrder &earlier) const noexcept {
        return earlier.number_ <= (earlier.stream_ == stream_ ? number_ : known_[earlier.stream_]);
    }

    // What the host knows. Any thread.
    void tell_host() const noexcept;
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

    /// The order of the stream's next command, which knows what the host does. Null where races are
    /// not looked for. Throws std::bad_alloc.
    [[nodiscard]] std::unique_ptr<CommandOrder> next();

  private:
    static constexpr std::uint32_t kNone = ~0u;
    std::uint32_t stream_ = kNone;
};

} // namespace softcuda::check
