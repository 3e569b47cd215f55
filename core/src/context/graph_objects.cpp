// graph_objects.cpp -- objects that a graph of the driver owns.
#include "context/graph_objects.h"

#include <pycuda/driver.h>

#include <atomic>
#include <memory>
#include <utility>

namespace pycuda::detail {
namespace {

/// A driver's reference to an object, in a list after its end.
struct Owned {
    std::shared_ptr<void> object;
    Owned *next = nullptr;
};

std::atomic<Owned *> ended{nullptr};

/// Runs in any thread, in the driver.
void CUDA_CB note_end(void *pointer) {
    auto *owned = static_cast<Owned *>(pointer);
    owned->next = ended.load(std::memory_order_relaxed);
    while (!ended.compare_exchange_weak(owned->next, owned, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
}

} // namespace

void give_to_graph(CUgraph graph, std::shared_ptr<void> object) {
    auto owned = std::make_unique<Owned>(Owned{std::move(object)});
    const CUuserObject handle = driver().cuUserObjectCreate.value(
        owned.get(), note_end, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    (void)owned.release(); // note_end() owns it now
    const CUresult result =
        driver().cuGraphRetainUserObject.status(graph, handle, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result == CUDA_SUCCESS)
        return;
    (void)driver().cuUserObjectRelease.status(handle, 1);
    check(result, driver().cuGraphRetainUserObject.name());
}

void release_objects_of_ended_graphs() noexcept {
    if (ended.load(std::memory_order_relaxed) == nullptr) [[likely]]
        return;
    Owned *next = ended.exchange(nullptr, std::memory_order_acquire);
    while (next != nullptr) {
        const std::unique_ptr<Owned> owned(next);
        next = owned->next;
    }
}

} // namespace pycuda::detail
