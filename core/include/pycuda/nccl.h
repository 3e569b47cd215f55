// nccl.h -- NCCL, opened at run time: collectives between devices.
#pragma once

#include <cuda.h>

#include <array>
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

/// Calls between nccl_group_start() and nccl_group_end() of a thread are made together.
void nccl_group_start();
void nccl_group_end();

/// A rank's part of a communicator. All functions throw NcclFailure. Addresses are of the device on
/// which the communicator was made; types and operations are NCCL's numbers.
class NcclCommunicator {
  public:
    /// Joins the others, in the current context; returns when all have joined, or at once in a
    /// group.
    NcclCommunicator(const NcclId &id, int ranks, int rank);
    NcclCommunicator(const NcclCommunicator &) = delete;
    NcclCommunicator &operator=(const NcclCommunicator &) = delete;
    /// Aborts what was neither destroyed nor aborted.
    ~NcclCommunicator();

    void all_reduce(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type, int operation,
                    CUstream stream);
    void reduce(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type, int operation,
                int root, CUstream stream);
    void broadcast(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type, int root,
                   CUstream stream);
    void all_gather(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type, CUstream stream);
    void reduce_scatter(CUdeviceptr from, CUdeviceptr to, std::size_t count, int type,
                        int operation, CUstream stream);
    void send(CUdeviceptr from, std::size_t count, int type, int peer, CUstream stream);
    void receive(CUdeviceptr to, std::size_t count, int type, int peer, CUstream stream);

    /// Throws where work that was put into streams has failed.
    void check() const;
    /// Waits for what is queued, and gives the communicator back.
    void destroy();
    /// Gives the communicator back; what is queued ends with an error. Any thread may call.
    void abort();

  private:
    void *get() const;
    void *comm_ = nullptr;
};

} // namespace pycuda
