// exchange.h -- messages between ranks, several at a time.
//
// A message is a label and bytes. The label says which call it belongs to, so that ranks that do
// not call the same functions with the same arguments get an error instead of wrong numbers.
#pragma once

#include "segment.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace softnccl {

/// The call that a message belongs to.
enum class Call : std::uint32_t {
    SendRecv,
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
};

[[nodiscard]] const char *name_of(Call call) noexcept;

struct Label {
    Call call;
    std::uint32_t type;      ///< ncclDataType_t
    std::uint32_t operation; ///< ncclRedOp_t; 0 where there is none
    std::int32_t root;       ///< -1 where there is none
    std::uint64_t count;     ///< of the call's elements
    std::uint64_t number;    ///< of the collective; 0 of a message between two
    std::uint64_t bytes;     ///< that follow

    bool operator==(const Label &) const = default;
    [[nodiscard]] std::string text() const;
};

/// Messages to be sent and received together: each makes progress when it can, so that no order of
/// them is a deadlock. Messages between the same two ranks keep their order.
class Exchange {
  public:
    explicit Exchange(Segment &segment) : segment_(segment) {}

    void send(int to, const Label &label, const void *bytes);
    void receive(int from, const Label &label, void *bytes);

    /// Until all are done. Throws Failure where that cannot be: a rank has ended or left, has
    /// called something else, or made no progress for $SOFTCUDA_NCCL_TIMEOUT seconds.
    void run();

  private:
    struct Message {
        Label label;
        std::byte *bytes; ///< of which nothing is written where they are sent
        std::uint64_t label_done = 0, done = 0;
        Label seen{};
        [[nodiscard]] bool is_done() const {
            return label_done == sizeof(Label) && done == label.bytes;
        }
    };
    /// Of one peer, in order.
    struct Queue {
        int peer;
        bool sends;
        std::deque<Message> messages;
    };

    Queue &queue(int peer, bool sends);
    bool advance(Queue &queue);
    bool advance(Queue &queue, Message &message);
    void check_label(const Queue &queue, const Message &message) const;
    void check_peers(std::chrono::steady_clock::time_point since) const;

    Segment &segment_;
    std::vector<Queue> queues_;
};

/// Seconds without progress until a wait for other ranks is given up; $SOFTCUDA_NCCL_TIMEOUT, 600.
[[nodiscard]] std::chrono::seconds patience();

} // namespace softnccl
