// pending_buffers.cpp -- keeps host memory and objects alive while the device uses them.
#include "pending_buffers.h"

#include <pycuda/driver_calls.h>

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
    if (work.is_captured()) {
        auto *kept = new HostBuffer(std::move(buffer));
        return work.keep_in_graph(std::shared_ptr<void>(kept, [](void *ended) {
            if (!driver_is_usable())
                return;
            nb::gil_scoped_acquire acquire;
            delete static_cast<HostBuffer *>(ended);
        }));
    }
    try {
        Event done(CU_EVENT_DISABLE_TIMING);
        done.record(work.stream());
        nb::ft_lock_guard guard(mutex_);
        pending_.emplace_back(std::move(buffer), std::move(done)); // moves if it has the memory
        count();
    } catch (const std::exception &) {
        // The device or the host is out of memory. The copy is in the stream already, so the
        // buffer must live until it is done.
        synchronize(work.stream());
    }
}

void PendingBuffers::keep(nb::handle object, StreamRef stream, const Context &context) {
    try {
        {
            nb::ft_lock_guard guard(mutex_);
            const auto known = std::ranges::find_if(in_use_, [&](const InUse &use) {
                return use.object.is(object) && use.stream == stream.get();
            });
            if (known != in_use_.end())
                return known->done.record(stream);
        }
        release_finished();
        Event done(context, CU_EVENT_DISABLE_TIMING);
        done.record(stream);
        nb::ft_lock_guard guard(mutex_);
        in_use_.push_back({nb::borrow(object), stream.get(), std::move(done)});
        count();
    } catch (const std::exception &) {
        synchronize(stream); // as in keep() of a buffer
    }
}

/// Called with the lock or before others see the object.
bool PendingBuffers::Lender::is_done() noexcept {
    if (done)
        return done->is_over();
    if (!context.usable())
        return true;
    try {
        const ScopedContext scope(context);
        if (default_stream_is_idle())
            return true;
        if (is_capturing(CUstream{})) // throws if a capture forbids the question
            return false;
        done.emplace(context, CU_EVENT_DISABLE_TIMING).record(StreamRef());
    } catch (const std::exception &) {
        done.reset(); // the next call tries again
    }
    return false;
}

void PendingBuffers::release_after_work(nb::object owner, const Context &context) noexcept {
    try {
        Lender lender{std::move(owner), context, std::nullopt};
        if (lender.is_done())
            return;
        nb::ft_lock_guard guard(mutex_);
        lenders_.push_back(std::move(lender));
        count();
    } catch (const std::exception &) {
        settle_current_context(); // no memory: waits for the work
    }
}

void PendingBuffers::release_later(nb::object object) noexcept {
    try {
        nb::ft_lock_guard guard(mutex_);
        unused_.reserve(unused_.size() + 1);
        unused_.push_back(std::move(object));
        count();
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

void PendingBuffers::release() noexcept {
    if (!driver_is_usable())
        return;
    // Destructors may run Python code, so they run without the lock.
    std::deque<Pending> finished;
    std::vector<InUse> no_longer_used;
    std::vector<Lender> lenders;
    std::vector<nb::object> unused;
    nb::ft_lock_guard guard(mutex_);
    const auto is_running = [&](const auto &one) { return !one.done.is_over(); };
    const auto copied = std::partition(pending_.begin(), pending_.end(), is_running);
    finished.assign(std::move_iterator(copied), std::move_iterator(pending_.end()));
    pending_.erase(copied, pending_.end());
    const auto used = std::partition(in_use_.begin(), in_use_.end(), is_running);
    no_longer_used.assign(std::move_iterator(used), std::move_iterator(in_use_.end()));
    in_use_.erase(used, in_use_.end());
    const auto lent = std::partition(lenders_.begin(), lenders_.end(),
                                     [](Lender &one) { return !one.is_done(); });
    lenders.assign(std::move_iterator(lent), std::move_iterator(lenders_.end()));
    lenders_.erase(lent, lenders_.end());
    unused.swap(unused_);
    count();
}

} // namespace pycuda::python
