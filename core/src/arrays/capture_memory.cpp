// capture_memory.cpp -- the memory of the arrays of a capture, which the recorded graph owns.
#include "arrays/capture_memory.h"

#include "context/graph_objects.h"
#include "driver/never_destroyed.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace pycuda::detail {
namespace {

/// The captures whose graphs exist. The graphs own the CaptureMemory, and may outlive the context.
struct Captures {
    CallerMutex mutex;
    std::vector<std::weak_ptr<CaptureMemory>> all;

    std::shared_ptr<CaptureMemory> find(std::uint64_t id) {
        std::erase_if(all, [](const auto &one) { return one.expired(); });
        for (const std::weak_ptr<CaptureMemory> &one : all)
            if (std::shared_ptr<CaptureMemory> alive = one.lock(); alive && alive->id() == id)
                return alive;
        return nullptr;
    }
    void end(CUcontext context) noexcept;
};

Captures &captures() { return never_destroyed<Captures>(); }

/// A graph cannot be launched after the end of its context, so it needs no memory.
void Captures::end(CUcontext context) noexcept {
    std::vector<std::shared_ptr<CaptureMemory>> ended; // released without the lock
    {
        std::lock_guard lock(mutex);
        for (const std::weak_ptr<CaptureMemory> &one : all)
            if (std::shared_ptr<CaptureMemory> alive = one.lock();
                alive && alive->context() == context)
                ended.push_back(std::move(alive));
    }
    for (const std::shared_ptr<CaptureMemory> &capture : ended)
        capture->end();
}

} // namespace

std::shared_ptr<CaptureMemory> CaptureMemory::of(StreamRef stream) {
    if (stream.is_default() || !driver().cuStreamGetCaptureInfo.available())
        return nullptr;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    if (driver().cuStreamGetCaptureInfo.status(stream.get(), &status, &id, &graph, nullptr,
                                               nullptr) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE) [[likely]]
        return nullptr; // a failure is reported by the work itself
    release_objects_of_ended_graphs();
    std::lock_guard lock(captures().mutex);
    if (std::shared_ptr<CaptureMemory> known = captures().find(id))
        return known;
    CUcontext handle = nullptr;
    driver().cuStreamGetCtx(stream.get(), &handle);
    auto made = std::make_shared<CaptureMemory>(id, handle);
    give_to_graph(graph, made);
    captures().all.push_back(made);
    if (const std::optional<Context> current = Context::current();
        current && current->get() == handle)
        current->before_end("captures", [handle] { captures().end(handle); });
    return made;
}

CaptureMemory::~CaptureMemory() { end(); }

void CaptureMemory::end() noexcept {
    std::vector<std::shared_ptr<StreamPool>> pools;
    std::unordered_set<std::shared_ptr<void>> kept; // objects may run code of the program
    {
        std::lock_guard lock(mutex_);
        pools.swap(pools_);
        kept.swap(kept_);
    }
    for (const std::shared_ptr<StreamPool> &pool : pools)
        pool->end_capture();
}

std::shared_ptr<StreamPool> CaptureMemory::pool_of(CUstream stream, const Context &context) {
    std::lock_guard lock(mutex_);
    for (const std::shared_ptr<StreamPool> &pool : pools_)
        if (pool->stream() == stream)
            return pool;
    return pools_.emplace_back(std::make_shared<StreamPool>(stream, context, id_));
}

void CaptureMemory::keep(std::shared_ptr<void> object) {
    std::lock_guard lock(mutex_);
    kept_.insert(std::move(object));
}

} // namespace pycuda::detail
