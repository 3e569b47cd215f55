// capture_memory.cpp -- the memory of the arrays of a capture, which the recorded graph owns.
#include "arrays/capture_memory.h"

#include "driver/never_destroyed.h"
#include "objects/graph_objects.h"

#include <pycuda/driver.h>

#include <utility>

namespace pycuda::detail {
namespace {

/// The captures in progress. Their graphs own the CaptureMemory.
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
};

Captures &captures() { return never_destroyed<Captures>(); }

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
    auto made = std::make_shared<CaptureMemory>(id);
    give_to_graph(graph, made);
    captures().all.push_back(made);
    return made;
}

CaptureMemory::~CaptureMemory() {
    for (const std::shared_ptr<StreamPool> &pool : pools_)
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
