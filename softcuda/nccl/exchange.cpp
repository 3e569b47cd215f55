// exchange.cpp -- messages between ranks, several at a time.
#include "exchange.h"

#include "element.h"
#include "failure.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>

namespace softnccl {
namespace {

using Clock = std::chrono::steady_clock;

/// The number of attempts without progress before the rank sleeps; another rank may be about to
/// write.
constexpr int spins = 200;
constexpr std::chrono::milliseconds between_checks{100};

} // namespace

const char *name_of(Call call) noexcept {
    constexpr const char *names[] = {"send and receive", "all-reduce", "reduce",
                                     "broadcast",        "all-gather", "reduce-scatter"};
    const auto place = static_cast<std::size_t>(call);
    return place < std::size(names) ? names[place] : "unknown call";
}

std::string Label::text() const {
    std::string text = name_of(call);
    if (number != 0)
        text += " number " + std::to_string(number);
    text +=
        " of " + std::to_string(count) + " " + softnccl::name_of(static_cast<ncclDataType_t>(type));
    if (call == Call::AllReduce || call == Call::Reduce || call == Call::ReduceScatter)
        text += std::string(" with ") + softnccl::name_of(static_cast<ncclRedOp_t>(operation));
    if (root >= 0)
        text += " and root " + std::to_string(root);
    return text;
}

std::chrono::seconds patience() {
    const char *text = std::getenv("SOFTCUDA_NCCL_TIMEOUT");
    const long seconds = text ? std::strtol(text, nullptr, 10) : 0;
    return std::chrono::seconds(seconds > 0 ? seconds : 600);
}

Exchange::Queue &Exchange::queue(int peer, bool sends) {
    for (Queue &known : queues_)
        if (known.peer == peer && known.sends == sends)
            return known;
    return queues_.emplace_back(Queue{peer, sends, {}});
}

void Exchange::send(int to, const Label &label, const void *bytes) {
    auto *source = const_cast<std::byte *>(static_cast<const std::byte *>(bytes));
    queue(to, true).messages.push_back({label, source});
}

void Exchange::receive(int from, const Label &label, void *bytes) {
    queue(from, false).messages.push_back({label, static_cast<std::byte *>(bytes)});
}

void Exchange::check_label(const Queue &queue, const Message &message) const {
    if (message.seen == message.label)
        return;
    throw Failure(ncclInvalidUsage,
                  "rank " + std::to_string(segment_.rank()) + " calls " + message.label.text() +
                      ", rank " + std::to_string(queue.peer) + " calls " + message.seen.text());
}

bool Exchange::advance(Queue &queue, Message &message) {
    bool moved = false;
    while (!message.is_done()) {
        std::byte *part = message.bytes + message.done;
        std::size_t wanted = message.label.bytes - message.done;
        const bool labelling = message.label_done < sizeof(Label);
        if (labelling) {
            Label &label = queue.sends ? message.label : message.seen;
            part = reinterpret_cast<std::byte *>(&label) + message.label_done;
            wanted = sizeof(Label) - message.label_done;
        }
        const std::size_t count = queue.sends ? segment_.write(queue.peer, part, wanted)
                                              : segment_.read(queue.peer, part, wanted);
        if (count == 0)
            return moved;
        moved = true;
        (labelling ? message.label_done : message.done) += count;
        if (labelling && message.label_done == sizeof(Label) && !queue.sends)
            check_label(queue, message);
    }
    return moved;
}

bool Exchange::advance(Queue &queue) {
    bool moved = false;
    while (!queue.messages.empty()) {
        moved |= advance(queue, queue.messages.front());
        if (!queue.messages.front().is_done())
            break;
        queue.messages.pop_front();
        moved = true;
    }
    return moved;
}

void Exchange::check_peers(Clock::time_point since) const {
    if (segment_.has_failed())
        throw Failure(ncclRemoteError, segment_.failure());
    const bool late = Clock::now() - since > patience();
    for (const Queue &waiting : queues_) {
        if (waiting.messages.empty())
            continue;
        const std::string who = "rank " + std::to_string(waiting.peer);
        const std::string while_in = "; rank " + std::to_string(segment_.rank()) +
                                     " waits for it in " + waiting.messages.front().label.text();
        if (!segment_.is_alive(waiting.peer))
            throw Failure(ncclRemoteError, who + " (process " +
                                               std::to_string(segment_.process_of(waiting.peer)) +
                                               ") has ended" + while_in);
        if (segment_.has_left(waiting.peer) && !(segment_.has_data(waiting.peer) && !waiting.sends))
            throw Failure(ncclRemoteError, who + " has destroyed its communicator" + while_in);
        if (late)
            throw Failure(ncclSystemError,
                          who + " did nothing for " + std::to_string(patience().count()) +
                              " s (SOFTCUDA_NCCL_TIMEOUT)" + while_in +
                              ": do all ranks make the same calls in the same order?");
    }
}

void Exchange::run() {
    Clock::time_point progress = Clock::now(), checked = progress;
    for (int idle = 0;;) {
        const std::uint32_t heard = segment_.bell();
        bool moved = false, left = false;
        for (Queue &one : queues_) {
            moved |= advance(one);
            left |= !one.messages.empty();
        }
        if (!left)
            return;
        if (moved) {
            progress = Clock::now();
            idle = 0;
            continue;
        }
        if (++idle < spins) {
            ::sched_yield();
            continue;
        }
        segment_.sleep(heard);
        if (Clock::now() - checked > between_checks) {
            checked = Clock::now();
            check_peers(progress);
        } else if (segment_.has_failed()) {
            throw Failure(ncclRemoteError, segment_.failure());
        }
    }
}

} // namespace softnccl
