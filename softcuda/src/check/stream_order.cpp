// stream_order.cpp -- the numbers of streams, and the host's clock.
#include "check/stream_order.h"

#include "check/modes.h"

#include <algorithm>
#include <mutex>
#include <utility>

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

namespace {

thread_local std::shared_ptr<const GraphPlace> present_place;

/// The place of `place` in the launch of a graph that is known by `before`; null: none.
const GraphPlace *place_in(const GraphPlace &place, const GraphPlace::Before *before) {
    const GraphPlace *at = &place;
    while (at && at->before.get() != before)
        at = at->parent.get();
    return at;
}

/// The innermost launch of a graph that has both; null: none.
const GraphPlace *common_launch(const GraphPlace &one, const GraphPlace &other) {
    const GraphPlace *at = &one;
    while (at && !place_in(other, at->before.get()))
        at = at->parent.get();
    return at;
}

} // namespace

GraphPlace::Before GraphPlace::before_of(const std::vector<std::vector<std::size_t>> &after) {
    Before before(after.size(), std::vector<bool>(after.size()));
    for (std::size_t node = 0; node < after.size(); ++node)
        for (const std::size_t earlier : after[node]) {
            before[node][earlier] = true;
            for (std::size_t other = 0; other < earlier; ++other)
                before[node][other] = before[node][other] || before[earlier][other];
        }
    return before;
}

bool GraphPlace::is_beside(const GraphPlace &other) const {
    return common_launch(*this, other) != nullptr;
}

bool GraphPlace::comes_after(const GraphPlace &earlier) const {
    const GraphPlace *const mine = common_launch(*this, earlier);
    const std::size_t first = place_in(earlier, mine->before.get())->node;
    return first == mine->node || (*mine->before)[mine->node][first];
}

GraphPlaceScope::GraphPlaceScope(const std::shared_ptr<const GraphPlace::Before> &before,
                                 std::size_t node)
    : outer_(present_place) {
    if (before)
        present_place = std::make_shared<const GraphPlace>(GraphPlace{outer_, before, node});
}

GraphPlaceScope::GraphPlaceScope(std::shared_ptr<const GraphPlace> place)
    : outer_(std::exchange(present_place, std::move(place))) {}

GraphPlaceScope::~GraphPlaceScope() { present_place = std::move(outer_); }

const std::shared_ptr<const GraphPlace> &GraphPlaceScope::present() noexcept {
    return present_place;
}

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
            if (stream_ != 0)
                several_ = true;
        }
        if (GraphPlaceScope::present())
            several_ = true;
        number = ++all.commands[stream_];
    }
    auto order = std::make_unique<CommandOrder>(stream_, number);
    order->ask_host();
    order->done_before_ = order->known_[stream_];
    return order;
}

} // namespace softcuda::check
