// communicator.h -- a rank's part of a communicator: its queue of work, and the thread that
// executes it.
//
// Work is ordered by the program's streams. When a stream reaches the work, it notifies the
// communicator, and then waits until a word in memory has the number of the work:
//
//     stream    [kernel] --> [arrive] --> [wait for word >= 7] --> [kernel]
//                               |                 ^
//     thread of the communicator: work 5, 6, [work 7: messages], word = 7
//
// Work is executed in the order of the program's calls, independent of streams, because all ranks
// make their calls in the same order. Host functions of streams are not used to wait for other
// ranks, because one thread calls the host functions of all streams of a process.
#pragma once

#include "collective.h"
#include "failure.h"
#include "segment.h"

#include <atomic>
#include <condition_variable>
#include <cuda.h>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace softnccl {

class Communicator {
  public:
    /// Joins the communicator in the current context. Throws Failure.
    Communicator(const ncclUniqueId &id, int ranks, int rank);
    /// Waits for queued work.
    ~Communicator();
    Communicator(const Communicator &) = delete;
    Communicator &operator=(const Communicator &) = delete;

    /// Returns when all ranks have joined. Throws Failure if that is not possible.
    void wait_for_others();

    /// Puts calls into streams, to be executed together. Throws Failure.
    void enqueue(std::vector<Request> requests, const std::vector<CUstream> &streams);

    /// Throws Failure for an invalid argument.
    void check(const Request &request) const;

    /// Ends queued work with an error on all ranks.
    void abort();

    [[nodiscard]] int ranks() const noexcept { return segment_->ranks(); }
    [[nodiscard]] int rank() const noexcept { return segment_->rank(); }
    [[nodiscard]] CUdevice device() const noexcept { return device_; }
    /// The error of queued work; success if there is none.
    [[nodiscard]] ncclResult_t result() const;
    [[nodiscard]] std::string message() const;

  private:
    struct Work {
        Communicator *communicator;
        std::vector<Request> requests;
        std::uint32_t number;
        std::atomic<std::size_t> streams_to_come;
    };
    static void CUDA_CB arrive(void *work);
    void loop();
    void run(const Work &work);
    void note(const Failure &failure);
    void check_memory(const void *address, std::size_t bytes, const char *what) const;

    std::unique_ptr<Segment> segment_;
    CUcontext context_ = nullptr;
    CUdevice device_ = 0;
    std::atomic<std::uint32_t> *done_ = nullptr; ///< in pinned memory
    CUdeviceptr done_on_device_ = 0;
    std::uint64_t collectives_ = 0; ///< used only by the thread

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::uint32_t enqueued_ = 0, finished_ = 0;
    bool stopping_ = false, stopped_ = false;
    std::vector<std::unique_ptr<Work>> queue_;
    ncclResult_t result_ = ncclSuccess;
    std::string message_;
};

} // namespace softnccl
