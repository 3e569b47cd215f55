// kept_objects.cpp -- objects that live until the device no longer uses them.
#include <pycuda/kept_objects.h>

#include "driver/never_destroyed.h"

#include <pycuda/caller_lock.h>
#include <pycuda/driver.h>
#include <pycuda/driver_calls.h>
#include <pycuda/event.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace pycuda {
namespace {

struct Kept {
    std::shared_ptr<void> object;
    std::optional<Context> context; ///< none of release_later()
    std::uint64_t stream = 0;       ///< stream_id()
    std::optional<Event> done;      ///< none if a capture forbids to record it now

    bool is_done() noexcept {
        if (done)
            return done->is_over();
        if (!context || !context->usable())
            return true;
        try {
            const ScopedContext scope(*context);
            if (default_stream_is_idle())
                return true;
            if (is_capturing(CUstream{})) // throws if a capture forbids the question
                return false;
            done.emplace(*context, CU_EVENT_DISABLE_TIMING).record(StreamRef());
        } catch (const std::exception &) {
            done.reset(); // the next call tries again
        }
        return false;
    }
};

struct KeptObjects {
    CallerMutex mutex;
    std::list<Kept> all;

    void add(Kept &&kept) {
        std::lock_guard lock(mutex);
        all.push_back(std::move(kept));
        detail::kept_objects = all.size();
    }
    /// Records the event of an object again. False if the object is not kept for this stream.
    bool record_again(const std::shared_ptr<void> &object, StreamRef stream, std::uint64_t id,
                      const Context &context) {
        if (id == 0)
            return false;
        std::lock_guard lock(mutex);
        const auto known = std::ranges::find_if(all, [&](const Kept &kept) {
            return kept.object == object && kept.stream == id && kept.done &&
                   kept.context == context;
        });
        if (known == all.end())
            return false;
        known->done->record(stream);
        return true;
    }

    static KeptObjects &instance() { return never_destroyed<KeptObjects>(); }
};

} // namespace

void keep_until_done(std::shared_ptr<void> object, StreamRef stream,
                     const Context &context) noexcept {
    try {
        KeptObjects &kept = KeptObjects::instance();
        const std::uint64_t id = stream_id(stream);
        if (kept.record_again(object, stream, id, context))
            return;
        release_kept_objects();
        Event done(context, CU_EVENT_DISABLE_TIMING);
        done.record(stream);
        kept.add({object, context, id, std::move(done)});
    } catch (const std::exception &) {
        // The device or the host is out of memory. The work is in the stream already, so the object
        // must live until it is done. A failure is reported to the code that waits for the stream.
        if (const Driver *driver = driver_for_cleanup())
            (void)driver->cuStreamSynchronize.status(stream.get());
    }
}

void release_after_default_stream(std::shared_ptr<void> object, const Context &context) noexcept {
    try {
        Kept kept{object, context, 0, std::nullopt};
        if (!kept.is_done())
            KeptObjects::instance().add(std::move(kept));
    } catch (const std::exception &) {
        settle_current_context(); // no memory: waits for the work
    }
}

void release_later(std::shared_ptr<void> object) noexcept {
    try {
        KeptObjects::instance().add({object, std::nullopt, 0, std::nullopt});
    } catch (const std::exception &) {
        new (std::nothrow) std::shared_ptr<void>(std::move(object)); // no memory: it lives on
    }
}

void detail::release_done_objects() noexcept {
    if (!driver_is_usable())
        return;
    std::list<Kept> ended; // released without the lock: objects may run code of the program
    KeptObjects &kept = KeptObjects::instance();
    std::lock_guard lock(kept.mutex);
    for (auto one = kept.all.begin(), next = one; one != kept.all.end(); one = next) {
        next = std::next(one);
        if (one->is_done())
            ended.splice(ended.end(), kept.all, one);
    }
    detail::kept_objects = kept.all.size();
}

} // namespace pycuda
