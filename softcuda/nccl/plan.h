// plan.h -- the calls that a graph contains.
#pragma once

#include "collective.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <vector>

namespace softnccl {

class Communicator;

/// The capture in which streams record their work.
struct Capture {
    cuuint64_t id = 0;
    CUgraph graph = nullptr;

    explicit operator bool() const noexcept { return graph != nullptr; }
};

/// The capture of all of these streams; none if their work runs now. Throws Failure if the streams
/// differ in this.
Capture capture_of(const std::vector<CUstream> &streams);

/// Makes `stream` record later work after these nodes, too.
void record_after(CUstream stream, const std::vector<CUgraphNode> &nodes);

/// The nodes after which `stream` records its next work.
std::vector<CUgraphNode> last_nodes(CUstream stream);

/// Words of pinned memory for the plans of a communicator. They are never freed: a graph may be
/// launched after its communicator has ended, and its stream reads the word.
class PlanWords {
  public:
    struct Word {
        std::atomic<std::uint32_t> *value = nullptr;
        CUdeviceptr address = 0;
    };

    /// A word that is 0. The context must be current. Throws Failure.
    Word take();
    /// Does not call the driver.
    void give_back(const Word &word);

  private:
    std::mutex mutex_;
    std::vector<Word> free_;
};

/// Calls that each launch of a graph executes. The graph and queued work own the plan.
class Plan : public std::enable_shared_from_this<Plan> {
  public:
    Plan(Communicator *communicator, std::vector<Request> requests, std::size_t streams,
         std::shared_ptr<PlanWords> words);
    ~Plan();
    Plan(const Plan &) = delete;
    Plan &operator=(const Plan &) = delete;

    /// Records in the streams that a launch arrives here, and waits until the calls are done. Makes
    /// the graph own the plan. Throws Failure.
    void record(const std::vector<CUstream> &streams, CUgraph graph);

    /// Call it when the communicator ends. Later launches do nothing but report it.
    void end();
    /// Call it when the work of a launch is done.
    void done() { word_.value->fetch_sub(1, std::memory_order_release); }
    [[nodiscard]] const std::vector<Request> &requests() const noexcept { return requests_; }

  private:
    static void CUDA_CB arrive(void *plan);

    std::mutex mutex_;
    Communicator *communicator_;
    const std::vector<Request> requests_;
    const std::size_t streams_;
    std::size_t arrived_ = 0; ///< streams of the present launch
    std::shared_ptr<PlanWords> words_;
    PlanWords::Word word_; ///< launches whose work is not done
};

} // namespace softnccl
