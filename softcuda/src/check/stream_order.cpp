// stream_order.cpp -- the numbers of streams, and the host's clock.
#include "check/stream_order.h"

#include "check/modes.h"

#include <algorithm>
#include <mutex>

namespace softcuda::check {
namespace {

/// The numbers of streams that are in use. If a number is reused, its count continues.
struct Streams {
    std::mutex mutex;
    std::array<std::uint32_t, CommandOrder::kStreams> users{}, commands{};
};

Streams &streams() {
    static auto *const streams = new Streams;
    return *streams;
}

} // namespace

struct CommandOrder::Host {
    std::mutex mutex;
    Numbers known{};
};

CommandOrder::Host &CommandOrder::host() {
    static auto *const host = new Host;
    return *host;
}

void CommandOrder::join(Numbers &into, const Numbers &from) noexcept {
    for (unsigned stream = 0; stream < kStreams; ++stream)
        into[stream] = std::max(into[stream], from[stream]);
}

void CommandOrder::follow(const CommandOrder &earlier) noexcept {
    join(known_, earlier.known_);
    known_[earlier.stream_] = std::max(known_[earlier.stream_], earlier.number_);
}

void CommandOrder::order_before_host() const noexcept {
    Host &all = host();
    std::lock_guard lock(all.mutex);
    join(all.known, known_);
    all.known[stream_] = std::max(all.known[stream_], number_);
}

void CommandOrder::ask_host() noexcept {
    Host &all = host();
    std::lock_guard lock(all.mutex);
    join(known_, all.known);
}

CommandCounter::~CommandCounter() {
    if (stream_ == kNone)
        return;
    std::lock_guard lock(streams().mutex);
    --streams().users[stream_];
}

std::unique_ptr<CommandOrder> CommandCounter::next() {
    if (!(modes() & Race))
        return nullptr;
    Streams &all = streams();
    std::uint32_t number = 0;
    {
        std::lock_guard lock(all.mutex);
        if (stream_ == kNone) {
            const auto least = std::min_element(all.users.begin(), all.users.end());
            stream_ = static_cast<std::uint32_t>(least - all.users.begin());
            ++*least;
        }
        number = ++all.commands[stream_];
    }
    auto order = std::make_unique<CommandOrder>(stream_, number);
    order->ask_host();
    return order;
}

} // namespace softcuda::check
