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

/// What the ranks of a communicator have in common: made by one of them, known to all.
using NcclId = std::array<char, 128>;

/// The version of the NCCL in use, as 22800. Throws NcclFailure where there is none: a driver may
/// bring its own beside it, as softcuda does; else it is the one of the toolkits, wheels
/// (nvidia-nccl-cu13) and the system.
int nccl_version();

NcclId make_nccl_id();

/// What a rank asks of a communicator. Types and operations are NCCL's numbers, counts are NCCL's:
/// of one rank's part in all-gather and reduce-scatter.
struct NcclCall {
    enum class Kind { AllReduce, Reduce, Broadcast, AllGather, ReduceScatter, Send, Receive };
    Kind kind;
    CUdeviceptr from = 0; ///< not read by Receive
    CUdeviceptr to = 0;   ///< not read by Send
    std::size_t count = 0;
    int type = 0;
    int operation = 0; ///< of AllReduce, Reduce, ReduceScatter
    int rank = 0;      ///< the root of Reduce and Broadcast, the peer of Send and Receive
    CUstream stream = nullptr;
};

/// Calls of a thread that are made together: at end(), all or none.
class [[nodiscard]] NcclGroup {
  public:
    /// Throws NcclFailure.
    NcclGroup();
    NcclGroup(const NcclGroup &) = delete;
    NcclGroup &operator=(const NcclGroup &) = delete;
    /// Without end(), closes the group so that the thread's next call is not part of it.
    ~NcclGroup();
    /// Throws NcclFailure where a call of the group failed.
    void end();

  private:
    bool open_ = true;
};

/// A rank's part of a communicator. All functions throw NcclFailure, and Error in a forked child.
/// Addresses are of the device on which the communicator was made.
class NcclCommunicator {
  public:
    /// Joins the others, in the current context; returns when all have joined, or at once in a
    /// group.
    NcclCommunicator(const NcclId &id, int ranks, int rank);
    NcclCommunicator(const NcclCommunicator &) = delete;
    NcclCommunicator &operator=(const NcclCommunicator &) = delete;
    /// Aborts what was neither destroyed nor aborted.
    ~NcclCommunicator();

    /// Puts the call into its stream, or notes it in the thread's group.
    void enqueue(const NcclCall &call) const;

    /// Throws where work that was put into streams has failed.
    void check() const;
    /// Waits for what is queued, and gives the communicator back.
    void destroy();
    /// Gives the communicator back; what is queued ends with an error. Any thread may call.
    void abort();

  private:
    void *get() const;
    void *take();
    std::atomic<void *> comm_ = nullptr;
};

} // namespace pycuda
