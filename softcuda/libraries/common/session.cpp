// session.cpp -- calls of a library as commands of a stream.
#include "session.h"

#include "call.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <sys/uio.h>
#include <unistd.h>

namespace softlib {
namespace {

/// The longest work that runs in the calling thread, in multiplications: about 50 microseconds for
/// one thread, and 20 milliseconds for all. The stream's thread would begin up to 0.6 milliseconds
/// later and with cold caches.
double longest_inline(Threads threads) { return threads == Threads::One ? 5e5 : 2e8; }

/// Makes a context current in this thread for the scope, unless it is current already.
class CurrentContext {
  public:
    explicit CurrentContext(CUcontext context) {
        CUcontext current = nullptr;
        cuCtxGetCurrent(&current);
        if (current == context)
            return;
        check_driver(cuCtxPushCurrent(context), "cuCtxPushCurrent");
        pushed_ = true;
    }
    CurrentContext(const CurrentContext &) = delete;
    CurrentContext &operator=(const CurrentContext &) = delete;
    ~CurrentContext() {
        CUcontext popped = nullptr;
        if (pushed_)
            cuCtxPopCurrent(&popped);
    }

  private:
    bool pushed_ = false;
};

} // namespace

void check_driver(CUresult result, const char *function) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = nullptr;
    cuGetErrorName(result, &name);
    int status = statuses.execution_failed;
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        status = statuses.allocation_failed;
    else if (result == CUDA_ERROR_NOT_INITIALIZED || result == CUDA_ERROR_NO_DEVICE)
        status = statuses.not_initialized;
    throw Failure(status,
                  std::string(function) + " failed: " + (name != nullptr ? name : "unknown error"));
}

/// Whether work of the handle has failed.
struct Session::Outcome {
    std::atomic<bool> failed{false};
};

/// A call in a stream. A graph may run its work several times.
struct Session::Work {
    const char *function;
    std::function<void()> body;
    std::shared_ptr<Outcome> outcome;

    void run() noexcept {
        try {
            body();
        } catch (const std::exception &error) {
            print(function, error.what()); // the client has no other sign of it
            outcome->failed = true;
        }
    }
    static void run_once(void *work) {
        std::unique_ptr<Work> own(static_cast<Work *>(work));
        own->run();
    }
    static void run_again(void *work) { static_cast<Work *>(work)->run(); }
    static void destroy(void *work) { delete static_cast<Work *>(work); }
};

Session::Session() : outcome_(std::make_shared<Outcome>()) {
    check_driver(cuInit(0), "cuInit");
    check_driver(cuCtxGetCurrent(&context_), "cuCtxGetCurrent");
    if (context_ != nullptr)
        return;
    check_driver(cuDevicePrimaryCtxRetain(&context_, 0), "cuDevicePrimaryCtxRetain");
    retained_ = 0;
    check_driver(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

// The primary context that the constructor retained stays: it is current in the caller's thread.
Session::~Session() = default;

void Session::set_stream(CUstream stream) {
    std::lock_guard lock(mutex_);
    stream_ = stream;
}

CUcontext Session::context_of(CUstream stream) const {
    CUcontext context = nullptr;
    if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD)
        check_driver(cuStreamGetCtx(stream, &context), "cuStreamGetCtx");
    else
        check_driver(cuCtxGetCurrent(&context), "cuCtxGetCurrent");
    return context != nullptr ? context : context_;
}

CUstream Session::stream() const {
    std::lock_guard lock(mutex_);
    return stream_;
}

CUgraph Session::captured(CUstream stream) {
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = nullptr;
    check_driver(
        cuStreamGetCaptureInfo(stream, &capture, nullptr, &graph, nullptr, nullptr, nullptr),
        "cuStreamGetCaptureInfo");
    return capture == CU_STREAM_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

bool Session::is_idle(CUstream stream) {
    // A question would end a capture of another stream by this thread.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    cuThreadExchangeStreamCaptureMode(&mode);
    // Other streams also wait for the default stream.
    const bool idle = cuStreamQuery(stream) == CUDA_SUCCESS &&
                      (stream == nullptr || cuStreamQuery(nullptr) == CUDA_SUCCESS);
    cuThreadExchangeStreamCaptureMode(&mode);
    return idle;
}

void Session::enqueue(const char *function, std::function<void()> work, double operations,
                      Threads threads, CUstream stream) {
    if (outcome_->failed)
        throw Failure(statuses.execution_failed, ""); // what failed was printed
    const CurrentContext current(context_of(stream));
    const CUgraph graph = captured(stream);
    if (graph == nullptr && operations <= longest_inline(threads) && is_idle(stream)) {
        std::lock_guard lock(running_);
        return work();
    }
    auto made = std::make_unique<Work>(Work{function, std::move(work), outcome_});
    check_driver(
        cuLaunchHostFunc(stream, graph == nullptr ? Work::run_once : Work::run_again, made.get()),
        "cuLaunchHostFunc");
    Work *const given = made.release(); // run_once() frees it, or the object of the graph
    if (graph == nullptr)
        return;
    CUuserObject object = nullptr;
    check_driver(
        cuUserObjectCreate(&object, given, Work::destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
        "cuUserObjectCreate");
    check_driver(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
                 "cuGraphRetainUserObject");
}

void Session::run(const char *function, std::function<void()> work) {
    {
        const CurrentContext current(context_of(stream()));
        if (captured(stream()) != nullptr)
            throw Failure(statuses.execution_failed,
                          "a capture cannot contain a call whose result is in the host's memory");
    }
    enqueue(function, std::move(work), 0, Threads::One);
    synchronize();
    if (outcome_->failed)
        throw Failure(statuses.execution_failed, "");
}

void Session::synchronize() const {
    const CurrentContext current(context_of(stream()));
    check_driver(cuStreamSynchronize(stream()), "cuStreamSynchronize");
}

void Session::finish() const noexcept {
    CUcontext current = nullptr;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context_)
        cuStreamSynchronize(stream());
}

void Session::check_memory(const void *address, std::size_t bytes, const char *what) const {
    if (bytes == 0)
        return;
    const CurrentContext current(context_);
    auto next = reinterpret_cast<CUdeviceptr>(address);
    std::size_t left = bytes;
    while (true) { // neighbouring allocations may be mapped one after the other
        CUdeviceptr base = 0;
        std::size_t size = 0;
        if (address == nullptr || cuMemGetAddressRange(&base, &size, next) != CUDA_SUCCESS)
            throw Failure(statuses.execution_failed,
                          std::string(what) + " must be device memory of " + std::to_string(bytes) +
                              " bytes, but has " + std::to_string(bytes - left));
        // The rest of an allocation's last 256 bytes is memory, too, as on a GPU.
        const std::size_t usable = base + (size + 255) / 256 * 256 - next;
        if (left <= usable)
            return;
        left -= usable;
        next += usable;
    }
}

bool is_readable(const void *address, std::size_t bytes) noexcept {
    if (bytes == 0)
        return true;
    if (address == nullptr)
        return false;
    constexpr std::size_t page = 4096, most = 256;
    const auto first = reinterpret_cast<std::uintptr_t>(address);
    if (bytes - 1 > std::numeric_limits<std::uintptr_t>::max() - first)
        return false;
    const std::uintptr_t last = first + bytes - 1;
    char kept[most];
    iovec there[most];
    for (std::uintptr_t next = first; next <= last;) { // one byte of each page
        std::size_t count = 0;
        for (; count < most && next <= last; next = (next / page + 1) * page)
            there[count++] = {reinterpret_cast<void *>(next), 1};
        const iovec here = {kept, count};
        if (process_vm_readv(getpid(), &here, 1, there, count, 0) != static_cast<ssize_t>(count))
            return false;
    }
    return true;
}

} // namespace softlib
