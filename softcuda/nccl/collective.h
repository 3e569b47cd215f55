// collective.h -- calls of all ranks, made of messages between two.
#pragma once

#include "exchange.h"
#include "nccl_api.h"

#include <cstddef>

namespace softnccl {

/// A call as the program makes it. Counts are NCCL's: of one rank's part in all-gather and
/// reduce-scatter.
struct Request {
    Call call;
    const void *from = nullptr;
    void *to = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;
    ncclRedOp_t operation = ncclSum;
    int root = -1;      ///< of reduce and broadcast
    int peer = -1;      ///< of a message between two
    bool sends = false; ///< of a message between two
};

/// Does a collective, the `number`-th of its communicator, and returns when this rank's part is
/// done.
void run_collective(Segment &segment, const Request &request, std::uint64_t number);

/// Does messages between two ranks together.
void run_messages(Segment &segment, const std::vector<Request> &requests);

} // namespace softnccl
