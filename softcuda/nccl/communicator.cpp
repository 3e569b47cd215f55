// communicator.cpp -- a rank's part of a communicator.
#include "communicator.h"

#include "element.h"
#include "exchange.h"

#include <algorithm>
#include <cfenv>
#include <chrono>
#include <cstdio>
#include <thread>

namespace softnccl {
namespace {

/// Makes the communicator's context current in a scope.
class CurrentContext {
  public:
    explicit CurrentContext(CUcontext context) {
        check_driver(cuCtxPushCurrent(context), "cuCtxPushCurrent");
    }
    ~CurrentContext() {
        CUcontext popped = nullptr;
        cuCtxPopCurrent(&popped);
    }
    CurrentContext(const CurrentContext &) = delete;
    CurrentContext &operator=(const CurrentContext &) = delete;
};

void check_rank(int rank, int ranks, const char *what) {
    if (rank < 0 || rank >= ranks)
        throw Failure(ncclInvalidArgument, std::string(what) + " must be from 0 to " +
                                               std::to_string(ranks - 1) + ", not " +
                                               std::to_string(rank));
}

/// The number of elements of each buffer that a call accesses.
std::size_t elements_read(const Request &request, int ranks) {
    return request.call == Call::ReduceScatter ? request.count * static_cast<std::size_t>(ranks)
                                               : request.count;
}
std::size_t elements_written(const Request &request, int ranks) {
    return request.call == Call::AllGather ? request.count * static_cast<std::size_t>(ranks)
                                           : request.count;
}

bool reads(const Request &request, int rank) {
    switch (request.call) {
    case Call::SendRecv:
        return request.sends;
    case Call::Broadcast:
        return rank == request.root;
    default:
        return true;
    }
}

bool writes(const Request &request, int rank) {
    switch (request.call) {
    case Call::SendRecv:
        return !request.sends;
    case Call::Reduce:
        return rank == request.root;
    default:
        return true;
    }
}

/// A message to oneself needs its receive call in the same group; no other call could receive it.
void check_own_messages(const std::vector<Request> &messages, int rank) {
    std::ptrdiff_t balance = 0;
    for (const Request &one : messages)
        if (one.peer == rank)
            balance += one.sends ? 1 : -1;
    if (balance != 0)
        throw Failure(ncclInvalidUsage, "rank " + std::to_string(rank) +
                                            " sends to itself, or receives from itself, without "
                                            "the other half in the same group");
}

} // namespace

Communicator::Communicator(const ncclUniqueId &id, int ranks, int rank) {
    if (ranks < 1)
        throw Failure(ncclInvalidArgument,
                      "the number of ranks must be 1 or more, not " + std::to_string(ranks));
    check_rank(rank, ranks, "the rank");
    check_driver(cuCtxGetCurrent(&context_), "cuCtxGetCurrent");
    if (context_ == nullptr)
        throw Failure(ncclInvalidUsage, "no context is current in this thread");
    check_driver(cuCtxGetDevice(&device_), "cuCtxGetDevice");
    void *word = nullptr;
    check_driver(cuMemHostAlloc(&word, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                 "cuMemHostAlloc");
    done_ = new (word) std::atomic<std::uint32_t>(0);
    try {
        check_driver(cuMemHostGetDevicePointer(&done_on_device_, word, 0),
                     "cuMemHostGetDevicePointer");
        segment_ = std::make_unique<Segment>(id, ranks, rank);
    } catch (...) {
        cuMemFreeHost(word);
        throw;
    }
    std::thread([this] { loop(); }).detach();
}

Communicator::~Communicator() {
    std::vector<std::shared_ptr<Plan>> plans;
    {
        std::lock_guard lock(plans_mutex_);
        for (const std::weak_ptr<Plan> &one : plans_)
            if (std::shared_ptr<Plan> plan = one.lock())
                plans.push_back(std::move(plan));
    }
    if (!plans.empty() && cuCtxPushCurrent(context_) == CUDA_SUCCESS) {
        cuCtxSynchronize(); // launches of the graphs
        CUcontext popped = nullptr;
        cuCtxPopCurrent(&popped);
    }
    for (const std::shared_ptr<Plan> &plan : plans)
        plan->end();
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return finished_ == enqueued_ && launched_.empty(); });
        stopping_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return stopped_; });
    }
    segment_->leave();
    // A stream's wait may not have seen the last value of the word.
    if (cuCtxPushCurrent(context_) == CUDA_SUCCESS) {
        cuCtxSynchronize();
        cuMemFreeHost(done_);
        CUcontext popped = nullptr;
        cuCtxPopCurrent(&popped);
    }
}

void Communicator::wait_for_others() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    while (segment_->joined() < ranks()) {
        const std::uint32_t heard = segment_->bell();
        if (segment_->joined() >= ranks())
            break;
        segment_->sleep(heard);
        if (segment_->has_failed()) {
            segment_->remove_name();
            throw Failure(ncclRemoteError, segment_->failure());
        }
        if (Clock::now() - start > patience()) {
            segment_->remove_name();
            throw Failure(ncclSystemError, "only " + std::to_string(segment_->joined()) + " of " +
                                               std::to_string(ranks()) + " ranks joined within " +
                                               std::to_string(patience().count()) +
                                               " s (SOFTCUDA_NCCL_TIMEOUT)");
        }
    }
    segment_->remove_name();
}

void Communicator::check_memory(const void *address, std::size_t bytes, const char *what) const {
    const auto pointer = reinterpret_cast<CUdeviceptr>(address);
    unsigned type = 0;
    if (address == nullptr ||
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer) != CUDA_SUCCESS)
        throw Failure(ncclInvalidArgument, std::string(what) + " is no memory of a device");
    int device = device_;
    if (type == CU_MEMORYTYPE_DEVICE &&
        cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer) ==
            CUDA_SUCCESS &&
        device != device_)
        throw Failure(ncclInvalidArgument,
                      std::string(what) + " is on device " + std::to_string(device) +
                          ", the communicator on device " + std::to_string(device_));
    CUdeviceptr base = 0;
    std::size_t size = 0;
    if (cuMemGetAddressRange(&base, &size, pointer) == CUDA_SUCCESS &&
        pointer + bytes > base + size)
        throw Failure(ncclInvalidArgument, std::string(what) + " has " +
                                               std::to_string(base + size - pointer) +
                                               " bytes, the call needs " + std::to_string(bytes));
}

void Communicator::check(const Request &request) const {
    const std::size_t size = size_of(request.type);
    check_operation(request.operation);
    if (request.call == Call::SendRecv)
        check_rank(request.peer, ranks(), "the peer");
    if (request.call == Call::Broadcast || request.call == Call::Reduce)
        check_rank(request.root, ranks(), "the root");
    if (request.count == 0)
        return;
    if (reads(request, rank()))
        check_memory(request.from, elements_read(request, ranks()) * size, "the send buffer");
    if (writes(request, rank()))
        check_memory(request.to, elements_written(request, ranks()) * size, "the receive buffer");
}

void Communicator::enqueue(std::vector<Request> requests, const std::vector<CUstream> &streams) {
    const CurrentContext current(context_);
    const Capture capture = capture_of(streams);
    if (const ncclResult_t failed = result(); failed != ncclSuccess)
        throw Failure(failed, message());
    if (capture)
        return record(std::move(requests), streams, capture);
    Work *work = nullptr;
    {
        std::lock_guard lock(mutex_);
        queue_.push_back(std::unique_ptr<Work>(
            new Work{this, std::move(requests), ++enqueued_, streams.size(), nullptr}));
        work = queue_.back().get();
    }
    const std::uint32_t number = work->number;
    for (CUstream stream : streams) {
        check_driver(cuLaunchHostFunc(stream, arrive, work), "cuLaunchHostFunc");
        check_driver(cuStreamWaitValue32(stream, done_on_device_, number, CU_STREAM_WAIT_VALUE_GEQ),
                     "cuStreamWaitValue32");
    }
}

/// All ranks record their calls in the same order. So do the launches of a graph: calls that one
/// capture records in several streams depend on each other.
void Communicator::record(std::vector<Request> requests, const std::vector<CUstream> &streams,
                          const Capture &capture) {
    std::lock_guard lock(plans_mutex_);
    if (words_ == nullptr)
        words_ = std::make_shared<PlanWords>();
    const auto plan = std::make_shared<Plan>(this, std::move(requests), streams.size(), words_);
    std::erase_if(plans_, [](const std::weak_ptr<Plan> &one) { return one.expired(); });
    plans_.push_back(plan);
    if (recorded_.capture == capture.id)
        for (CUstream stream : streams)
            record_after(stream, recorded_.nodes);
    plan->record(streams, capture.graph);
    recorded_ = {capture.id, {}};
    for (CUstream stream : streams)
        for (CUgraphNode node : last_nodes(stream))
            recorded_.nodes.push_back(node);
}

void Communicator::launch(std::shared_ptr<Plan> plan) {
    std::lock_guard lock(mutex_);
    launched_.push_back(std::unique_ptr<Work>(new Work{this, plan->requests(), 0, 0, plan}));
    changed_.notify_all();
}

void Communicator::arrive(void *argument) {
    auto *work = static_cast<Work *>(argument);
    Communicator &own = *work->communicator;
    std::lock_guard lock(own.mutex_);
    if (work->streams_to_come.fetch_sub(1) == 1)
        own.changed_.notify_all();
}

/// Work that may run now. Calls that wait for their stream do not delay those of a graph, because
/// the graph may be earlier in the same stream.
std::unique_ptr<Communicator::Work> Communicator::next() {
    std::unique_ptr<Work> work;
    if (!queue_.empty() && queue_.front()->streams_to_come == 0) {
        work = std::move(queue_.front());
        queue_.erase(queue_.begin());
    } else if (!launched_.empty()) {
        work = std::move(launched_.front());
        launched_.erase(launched_.begin());
    }
    return work;
}

void Communicator::loop() {
    std::fesetenv(FE_DFL_ENV); // sums do not depend on the modes of the thread that made this one
    std::unique_lock lock(mutex_);
    for (;;) {
        std::unique_ptr<Work> work;
        changed_.wait(lock, [&] { return stopping_ || (work = next()) != nullptr; });
        if (stopping_)
            break;
        lock.unlock();
        try {
            run(*work);
        } catch (const Failure &failure) {
            note(failure);
        } catch (const std::exception &error) {
            note(Failure(ncclSystemError, error.what()));
        }
        if (work->plan != nullptr)
            work->plan->done();
        else
            done_->store(work->number, std::memory_order_release);
        lock.lock();
        if (work->plan == nullptr)
            finished_ = work->number;
        changed_.notify_all();
    }
    stopped_ = true;
    changed_.notify_all();
}

void Communicator::run(const Work &work) {
    if (segment_->has_failed())
        throw Failure(ncclRemoteError, segment_->failure());
    std::vector<Request> messages;
    for (const Request &request : work.requests) {
        if (request.call == Call::SendRecv)
            messages.push_back(request);
        else
            run_collective(*segment_, request, ++collectives_);
    }
    check_own_messages(messages, rank());
    run_messages(*segment_, messages);
}

void Communicator::note(const Failure &failure) {
    {
        std::lock_guard lock(mutex_);
        if (result_ != ncclSuccess)
            return;
        result_ = failure.result();
        message_ = failure.what();
    }
    std::fprintf(stderr, "softcuda: NCCL, rank %d: %s\n", rank(), failure.what());
    segment_->fail(failure.what());
}

void Communicator::abort() {
    segment_->fail("rank " + std::to_string(rank()) + " has aborted its communicator");
}

ncclResult_t Communicator::result() const {
    std::lock_guard lock(mutex_);
    return result_;
}

std::string Communicator::message() const {
    std::lock_guard lock(mutex_);
    return message_;
}

} // namespace softnccl
