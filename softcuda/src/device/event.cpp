// event.cpp -- records events and waits for them.
#include "device/event.h"

#include "device/client_question.h"
#include "device/context.h"
#include "device/error.h"
#include "device/graphs/capture.h"
#include "device/polled_wait.h"
#include "device/system.h"
#include "rt/grid.h"

namespace softcuda::device {

void EventMark::start() noexcept {
    nanoseconds_ = rt::monotonic_nanoseconds();
    if (share_)
        share_->reach(number_);
    System::get().timeline().finish(*this);
}

std::shared_ptr<EventMark> Event::mark() const {
    std::lock_guard lock(mutex_);
    return mark_;
}

bool Event::captured() const {
    std::lock_guard lock(mutex_);
    return captured_;
}

bool Event::recorded() const { return share_ || mark(); }

void Event::record(Stream &stream) {
    require(&stream.context() == &context_, CUDA_ERROR_INVALID_HANDLE);
    if (capture::any() && capture::record(stream, *this)) {
        std::lock_guard lock(mutex_);
        captured_ = true;
        return;
    }
    auto mark = share_ ? std::make_shared<EventMark>(context_, share_)
                       : std::make_shared<EventMark>(context_);
    {
        std::lock_guard lock(mutex_);
        mark_ = mark;
        captured_ = false;
    }
    if (System::get().timeline().append(stream, mark))
        mark->start();
}

void Event::hold(Stream &stream) const {
    if (capture::any() && capture::wait(stream, *this))
        return;
    require(!captured(), CUDA_ERROR_INVALID_VALUE);
    if (share_) { // the latest record may be that of another process
        const std::uint64_t number = share_->latest();
        if (!share_->reached(number))
            enqueue_wait(stream, [share = share_, number] { return share->reached(number); });
        return;
    }
    const std::shared_ptr<EventMark> latest = mark();
    if (!latest || (latest->done() && !latest->order()))
        return;
    auto hold = std::make_shared<EventMark>(stream.context());
    if (&latest->context() != &stream.context())
        client_question::remember(hold, latest);
    if (System::get().timeline().append(stream, hold, latest))
        hold->start();
}

bool Event::query() const {
    const bool is_done = is_over();
    if (const std::shared_ptr<EventMark> latest = mark(); is_done && latest)
        latest->order_before_host();
    return is_done;
}

bool Event::is_over() const {
    require(!captured(), CUDA_ERROR_INVALID_VALUE);
    if (share_)
        return share_->reached(share_->latest());
    const std::shared_ptr<EventMark> latest = mark();
    if (latest && !latest->done())
        System::get().timeline().let_advance();
    return !latest || latest->done();
}

void Event::synchronize() const {
    require(!captured(), CUDA_ERROR_INVALID_VALUE);
    if (const std::shared_ptr<EventMark> latest = mark())
        require(latest->wait_unless_given_up(), CUDA_ERROR_NOT_READY);
    if (share_)
        share_->wait(share_->latest());
}

float Event::milliseconds_since(const Event &earlier) const {
    require(!captured() && !earlier.captured(), CUDA_ERROR_INVALID_VALUE);
    const std::shared_ptr<EventMark> end = mark();
    const std::shared_ptr<EventMark> begin = earlier.mark();
    require(begin && end && ((flags_ | earlier.flags_) & CU_EVENT_DISABLE_TIMING) == 0,
            CUDA_ERROR_INVALID_HANDLE);
    require(begin->done() && end->done(), CUDA_ERROR_NOT_READY);
    const auto difference = static_cast<std::int64_t>(end->nanoseconds()) -
                            static_cast<std::int64_t>(begin->nanoseconds());
    return static_cast<float>(static_cast<double>(difference) / 1e6);
}

} // namespace softcuda::device
