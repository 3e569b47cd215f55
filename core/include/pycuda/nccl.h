// nccl.h -- NCCL, opened at run time: collectives between devices.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace pycuda {

/// NCCL reported a failure, or there is no NCCL.
class NcclFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The unique id of a communicator: one rank makes it and sends it to all other ranks.
using NcclId = std::array<char, 128>;

/// The version of the NCCL in use, as 22800. Throws NcclFailure if no library is found. A library
/// in the folder of the driver comes first, which softcuda has; then toolkits, wheels
/// (nvidia-nccl-cu13) and the system are searched.
int nccl_version();

/// A new id. Throws NcclFailure if no library is found or NCCL fails.
NcclId make_nccl_id();

/// One call of a rank. Types and operations are NCCL's numbers. Counts are NCCL's counts: in
/// all-gather and reduce-scatter, the count of one rank's part.
struct NcclCall {
    enum class Kind { AllReduce, Reduce, Broadcast, AllGather, ReduceScatter, Send, Receive };
    Kind kind;                 ///< the function
    CUdeviceptr from = 0;      ///< not read by Receive
    CUdeviceptr to = 0;        ///< not read by Send
    std::size_t count = 0;     ///< in elements
    int type = 0;              ///< NCCL's number of the type of the elements
    int operation = 0;         ///< of AllReduce, Reduce, ReduceScatter
    int rank = 0;              ///< the root of Reduce and Broadcast, the peer of Send and Receive
    CUstream stream = nullptr; ///< the default stream if null
};

/// A group: calls of a thread that start together at end(). All or none of them start.
class [[nodiscard]] NcclGroup {
  public:
    /// Throws NcclFailure.
    NcclGroup();
    NcclGroup(const NcclGroup &) = delete;
    NcclGroup &operator=(const NcclGroup &) = delete;
    /// Closes the group if end() was not called, so that the thread's next call is not part of the
    /// group.
    ~NcclGroup();
    /// Throws NcclFailure if a call of the group failed.
    void end();

  private:
    bool open_ = true;
};

/// One rank of a communicator. All functions throw NcclFailure, and Error in a forked child.
/// Addresses belong to the device of the context in which the communicator was made.
class NcclCommunicator {
  public:
    /// Joins the other ranks, in the current context. Returns when all ranks have joined; in a
    /// group, returns at once.
    NcclCommunicator(const NcclId &id, int ranks, int rank);
    NcclCommunicator(const NcclCommunicator &) = delete;
    NcclCommunicator &operator=(const NcclCommunicator &) = delete;
    /// Calls abort() if neither destroy() nor abort() was called.
    ~NcclCommunicator();

    /// Queues the call in its stream, or adds it to the thread's group.
    void enqueue(const NcclCall &call) const;

    /// Throws if queued work has failed. Does not wait.
    void check() const;
    /// Waits for queued work, and destroys the communicator.
    void destroy();
    /// Destroys the communicator without waiting; queued work ends with an error. Any thread may
    /// call.
    void abort();

  private:
    void *get() const;
    void *take();
    std::atomic<void *> comm_ = nullptr;
};

} // namespace pycuda
