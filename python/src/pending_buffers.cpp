// pending_buffers.cpp -- keeps host memory alive while asynchronous copies still use it.
#include "pending_buffers.h"

#include <pycuda/driver.h>

namespace pycuda::python {
PendingBuffers &PendingBuffers::instance() {
    static auto *instance = new PendingBuffers; // never destroyed: copies may outlive Python
    return *instance;
}

void PendingBuffers::keep(HostBuffer buffer, StreamRef stream) {
    release_finished();
    Event done(CU_EVENT_DISABLE_TIMING);
    done.record(stream);
    pending_.push_back({std::move(buffer), std::move(done)});
}

void PendingBuffers::release() noexcept {
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr)
        return;
    std::erase_if(pending_, [&](Pending &pending) {
        // Any failure means that the context is dead, and with it the copy.
        return driver->cuEventQuery.status(pending.done.get()) != CUDA_ERROR_NOT_READY;
    });
}

} // namespace pycuda::python
