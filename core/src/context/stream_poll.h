// stream_poll.h -- queries whether the work of a stream is done, for a wait_loop().
#pragma once

#include <pycuda/driver.h>
#include <pycuda/event.h>

#include <chrono>
#include <optional>

namespace pycuda::detail {

/// Waits for the work that was in the stream during the first half millisecond. A stream to which
/// other threads add work may never be idle, so a longer wait uses an event in the stream.
class StreamPoll {
  public:
    explicit StreamPoll(CUstream stream) : stream_(stream) {}

    CUresult operator()() {
        if (mark_)
            return driver().cuEventQuery.status(mark_->get());
        const CUresult result = driver().cuStreamQuery.status(stream_);
        if (result != CUDA_ERROR_NOT_READY)
            return result;
        const Clock::time_point now = Clock::now();
        if (mark_at_ == Clock::time_point())
            mark_at_ = now + std::chrono::microseconds(500);
        else if (now >= mark_at_)
            set_mark();
        return result;
    }

  private:
    using Clock = std::chrono::steady_clock;

    /// Not for a stream of another context than the current one: such a stream itself is queried.
    void set_mark() {
        mark_at_ = Clock::time_point::max();
        Event mark(CU_EVENT_DISABLE_TIMING);
        if (driver().cuEventRecord.status(mark.get(), stream_) == CUDA_SUCCESS)
            mark_.emplace(std::move(mark));
    }

    CUstream stream_;
    Clock::time_point mark_at_; ///< set by the first query that finds work
    std::optional<Event> mark_;
};

} // namespace pycuda::detail
