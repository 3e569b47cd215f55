// pending_buffers.cpp -- keeps host memory alive while asynchronous copies use it.
#include "pending_buffers.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <iterator>

namespace pycuda::python {
PendingBuffers &PendingBuffers::instance() {
    static auto *instance =
        new PendingBuffers; // never destroyed: copies may be running when Python ends
    return *instance;
}

void PendingBuffers::keep(HostBuffer buffer, StreamRef stream) {
    release_finished();
    Event done(CU_EVENT_DISABLE_TIMING);
    done.record(stream);
    nb::ft_lock_guard guard(mutex_);
    pending_.push_back({std::move(buffer), std::move(done)});
    count_ = pending_.size();
}

void PendingBuffers::release() noexcept {
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr)
        return;
    std::deque<Pending>
        finished; // their destructors may run Python code, so they run without the lock
    nb::ft_lock_guard guard(mutex_);
    const auto first = std::partition(pending_.begin(), pending_.end(), [&](Pending &pending) {
        // Any other result means that the copy is done, or that its context has ended.
        return driver->cuEventQuery.status(pending.done.get()) == CUDA_ERROR_NOT_READY;
    });
    finished.assign(std::move_iterator(first), std::move_iterator(pending_.end()));
    pending_.erase(first, pending_.end());
    count_ = pending_.size();
}

} // namespace pycuda::python
