// pending_buffers.cpp -- keeps host memory and objects alive while the device uses them.
#include "pending_buffers.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <iterator>
#include <memory>

namespace pycuda::python {
PendingBuffers &PendingBuffers::instance() {
    static auto *instance =
        new PendingBuffers; // never destroyed: copies may be running when Python ends
    return *instance;
}

void PendingBuffers::keep(HostBuffer buffer, Work &work) {
    release_finished();
    if (work.is_captured())
        return work.keep_in_graph(owned_by_graph(std::move(buffer)));
    try {
        Event done(CU_EVENT_DISABLE_TIMING);
        done.record(work.stream());
        nb::ft_lock_guard guard(mutex_);
        pending_.emplace_back(std::move(buffer), std::move(done)); // moves if it has the memory
        count_ = pending_.size() + unused_.size();
    } catch (const std::exception &) {
        // The device or the host is out of memory. The copy is in the stream already, so the
        // buffer must live until it is done.
        synchronize(work.stream());
    }
}

void PendingBuffers::release_later(nb::object object) noexcept {
    try {
        nb::ft_lock_guard guard(mutex_);
        unused_.reserve(unused_.size() + 1);
        unused_.push_back(std::move(object));
        ++count_;
    } catch (const std::exception &) {
        object.release(); // no memory: the object lives on
        return;
    }
    // The main thread releases the objects soon, or any thread when it next waits or allocates.
    const auto release = [](void *) {
        instance().release_finished();
        return 0;
    };
    (void)Py_AddPendingCall(release, nullptr);
}

bool PendingBuffers::is_over(const Driver &driver, const Event &copied) noexcept {
    // A context that was destroyed took its events with it: NVIDIA's driver reads freed memory when
    // it queries one of them.
    return !copied.context().usable() ||
           driver.cuEventQuery.status(copied.get()) != CUDA_ERROR_NOT_READY;
}

void PendingBuffers::release() noexcept {
    const Driver *driver = driver_for_cleanup();
    if (driver == nullptr)
        return;
    std::deque<Pending>
        finished; // their destructors may run Python code, so they run without the lock
    std::vector<nb::object> unused;
    nb::ft_lock_guard guard(mutex_);
    const auto first = std::partition(pending_.begin(), pending_.end(), [&](Pending &pending) {
        return !is_over(*driver, pending.done);
    });
    finished.assign(std::move_iterator(first), std::move_iterator(pending_.end()));
    pending_.erase(first, pending_.end());
    unused.swap(unused_);
    count_ = pending_.size();
}

} // namespace pycuda::python
