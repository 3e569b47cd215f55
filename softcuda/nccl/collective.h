// collective.h -- calls of all ranks, implemented with messages between two ranks.
#pragma once

#include "exchange.h"
#include "nccl_api.h"

#include <cstddef>

namespace softnccl {

/// A call of the program. Counts are NCCL's: for all-gather and reduce-scatter, the elements of one
/// rank's part.
struct Request {
    Call call;
    const void *from = nullptr;
    void *to = nullptr;
    std::size_t count = 0;
    ncclDataType_t type = ncclInt8;
    ncclRedOp_t operation = ncclSum;
    int root = -1;      ///< for reduce and broadcast
    int peer = -1;      ///< for a message between two ranks
    bool sends = false; ///< for a message between two ranks
};

/// Executes collective call `number` of the communicator, and returns when this rank's part is
/// done.
void run_collective(Segment &segment, const Request &request, std::uint64_t number);

/// Executes several messages between ranks together.
void run_messages(Segment &segment, const std::vector<Request> &requests);

} // namespace softnccl
