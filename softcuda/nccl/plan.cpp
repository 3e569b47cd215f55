// plan.cpp -- the calls that a graph contains.
#include "plan.h"

#include "communicator.h"
#include "failure.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <utility>

namespace softnccl {
namespace {

/// In its scope, the thread may allocate while a stream is being captured.
class OutsideCaptures {
  public:
    OutsideCaptures() { cuThreadExchangeStreamCaptureMode(&mode_); }
    ~OutsideCaptures() { cuThreadExchangeStreamCaptureMode(&mode_); }
    OutsideCaptures(const OutsideCaptures &) = delete;
    OutsideCaptures &operator=(const OutsideCaptures &) = delete;

  private:
    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace

Capture capture_of(const std::vector<CUstream> &streams) {
    Capture common;
    for (std::size_t i = 0; i < streams.size(); ++i) {
        Capture own;
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
        check_driver(cuStreamGetCaptureInfo(streams[i], &status, &own.id, &own.graph, nullptr,
                                            nullptr, nullptr),
                     "cuStreamGetCaptureInfo");
        if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
            throw Failure(ncclInvalidUsage, "the capture of the stream was invalidated before");
        if (status == CU_STREAM_CAPTURE_STATUS_NONE)
            own = {};
        if (i != 0 && own.id != common.id)
            throw Failure(ncclInvalidUsage, "the streams of a group's calls for one rank must be "
                                            "in one capture, or in none");
        common = own;
    }
    return common;
}

std::vector<CUgraphNode> last_nodes(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = nullptr;
    std::size_t count = 0;
    check_driver(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &count),
                 "cuStreamGetCaptureInfo");
    return {nodes, nodes + count};
}

void record_after(CUstream stream, const std::vector<CUgraphNode> &nodes) {
    std::vector<CUgraphNode> all = last_nodes(stream);
    const std::size_t before = all.size();
    for (CUgraphNode node : nodes)
        if (std::ranges::find(all, node) == all.end())
            all.push_back(node);
    if (all.size() != before)
        check_driver(cuStreamUpdateCaptureDependencies(stream, all.data(), nullptr, all.size(),
                                                       CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                     "cuStreamUpdateCaptureDependencies");
}

PlanWords::Word PlanWords::take() {
    constexpr std::size_t words = 64, step = 64; // a line of the cache for each
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
        const OutsideCaptures outside;
        void *memory = nullptr;
        CUdeviceptr address = 0;
        check_driver(cuMemHostAlloc(&memory, words * step,
                                    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                     "cuMemHostAlloc");
        check_driver(cuMemHostGetDevicePointer(&address, memory, 0), "cuMemHostGetDevicePointer");
        for (std::size_t i = words; i-- > 0;)
            free_.push_back({new (static_cast<std::byte *>(memory) + i * step)
                                 std::atomic<std::uint32_t>(0),
                             address + i *step});
    }
    const Word word = free_.back();
    free_.pop_back();
    word.value->store(0);
    return word;
}

void PlanWords::give_back(const Word &word) {
    std::lock_guard lock(mutex_);
    free_.push_back(word);
}

Plan::Plan(Communicator *communicator, std::vector<Request> requests, std::size_t streams,
           std::shared_ptr<PlanWords> words)
    : communicator_(communicator), requests_(std::move(requests)), streams_(streams),
      words_(std::move(words)), word_(words_->take()) {}

Plan::~Plan() { words_->give_back(word_); }

void Plan::record(const std::vector<CUstream> &streams, CUgraph graph) {
    auto owner = std::make_unique<std::shared_ptr<Plan>>(shared_from_this());
    CUuserObject object = nullptr;
    check_driver(cuUserObjectCreate(
                     &object, owner.get(),
                     [](void *pointer) { delete static_cast<std::shared_ptr<Plan> *>(pointer); }, 1,
                     CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                 "cuUserObjectCreate");
    (void)owner.release(); // the object owns it now
    const CUresult given = cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (given != CUDA_SUCCESS)
        cuUserObjectRelease(object, 1);
    check_driver(given, "cuGraphRetainUserObject");
    for (CUstream stream : streams) {
        check_driver(cuLaunchHostFunc(stream, arrive, this), "cuLaunchHostFunc");
        check_driver(cuStreamWaitValue32(stream, word_.address, 0, CU_STREAM_WAIT_VALUE_EQ),
                     "cuStreamWaitValue32");
    }
}

void Plan::end() {
    std::lock_guard lock(mutex_);
    communicator_ = nullptr;
}

void Plan::arrive(void *pointer) {
    Plan &plan = *static_cast<Plan *>(pointer);
    std::lock_guard lock(plan.mutex_);
    if (plan.communicator_ == nullptr) {
        std::fprintf(stderr, "softcuda: NCCL: a graph was launched whose communicator has ended: "
                             "its calls do nothing\n");
        return;
    }
    if (plan.arrived_++ == 0)
        plan.word_.value->fetch_add(1);
    if (plan.arrived_ == plan.streams_) {
        plan.arrived_ = 0;
        plan.communicator_->launch(plan.shared_from_this());
    }
}

} // namespace softnccl
