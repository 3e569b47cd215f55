// exchange.h -- messages between ranks, several at a time.
//
// A message is a label and bytes. The label identifies the call. So ranks that do not call the same
// functions with the same arguments get an error instead of wrong results.
#pragma once

#include "segment.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace softnccl {

/// The call to which a message belongs.
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
    std::uint32_t operation; ///< ncclRedOp_t; 0 if there is none
    std::int32_t root;       ///< -1 if there is none
    std::uint64_t count;     ///< elements of the call
    std::uint64_t number;    ///< number of the collective call; 0 for a message between two ranks
    std::uint64_t bytes;     ///< bytes after the label

    bool operator==(const Label &) const = default;
    [[nodiscard]] std::string text() const;
};

/// Messages to send and to receive at the same time: each makes progress when possible, so no order
/// of messages is a deadlock. Messages between the same two ranks keep their order.
class Exchange {
  public:
    explicit Exchange(Segment &segment) : segment_(segment) {}

    void send(int to, const Label &label, const void *bytes);
    void receive(int from, const Label &label, void *bytes);

    /// Runs until all are done. Throws Failure if that is not possible: a rank has ended or left,
    /// has made another call, or has made no progress for $SOFTCUDA_NCCL_TIMEOUT seconds.
    void run();

  private:
    struct Message {
        Label label;
        std::byte *bytes; ///< only read if they are sent
        std::uint64_t label_done = 0, done = 0;
        Label seen{};
        [[nodiscard]] bool is_done() const {
            return label_done == sizeof(Label) && done == label.bytes;
        }
    };
    /// The messages of one peer, in order.
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

/// The maximum time in seconds without progress of other ranks; $SOFTCUDA_NCCL_TIMEOUT, default
/// 600.
[[nodiscard]] std::chrono::seconds patience();

} // namespace softnccl
