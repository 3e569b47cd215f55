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
//
// A capture records the same two steps. The graph owns a plan, its calls and a word of its own.
// Each launch that arrives makes work of the plan, after all work that is in the queue at this
// time, and waits until no work of the plan is left.
#pragma once

#include "collective.h"
#include "failure.h"
#include "plan.h"
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

    /// Puts calls into streams, to be executed together. Streams that are being captured record the
    /// calls: each launch of the graph executes them. Throws Failure.
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

    /// Queues the calls of a plan, whose streams have all arrived. For Plan.
    void launch(std::shared_ptr<Plan> plan);

  private:
    struct Work {
        Communicator *communicator;
        std::vector<Request> requests;
        std::uint32_t number; ///< 0 for a plan
        std::atomic<std::size_t> streams_to_come;
        std::shared_ptr<Plan> plan;
    };
    /// The last calls that a capture has recorded.
    struct Recorded {
        cuuint64_t capture = 0;
        std::vector<CUgraphNode> nodes;
    };
    static void CUDA_CB arrive(void *work);
    void record(std::vector<Request> requests, const std::vector<CUstream> &streams,
                const Capture &capture);
    void loop();
    std::unique_ptr<Work> next();
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
    std::uint32_t enqueued_ = 0, finished_ = 0; ///< not counting plans
    bool stopping_ = false, stopped_ = false;
    std::vector<std::unique_ptr<Work>> queue_;
    std::vector<std::unique_ptr<Work>> launched_; ///< of plans, in the order in which they arrive
    std::mutex plans_mutex_;                      ///< not held together with mutex_
    std::vector<std::weak_ptr<Plan>> plans_;
    std::shared_ptr<PlanWords> words_;
    Recorded recorded_;
    ncclResult_t result_ = ncclSuccess;
    std::string message_;
};

} // namespace softnccl
