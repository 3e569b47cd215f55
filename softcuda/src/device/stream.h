// stream.h -- queues of commands, and the streams of a context.
#pragma once

#include "check/stream_order.h"
#include "device/schedule.h"

#include <atomic>
#include <cstdint>
#include <cuda.h>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace softcuda::device {

class Command;
class Context;
class GreenContext;

/// A stream. Its commands run one after the other. A blocking stream and the context's legacy
/// default stream also wait for each other.
class Stream {
  public:
    enum class Kind { Legacy, Blocking, NonBlocking };

    Stream(Context &context, Kind kind, int priority);

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] int priority() const noexcept { return priority_.load(); }
    void set_priority(int priority) noexcept { priority_ = priority; }
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Limits the number of multiprocessors of the stream's kernels. Call it before the first use.
    void confine(std::weak_ptr<GreenContext> to, unsigned multiprocessors) noexcept {
        confined_to_ = std::move(to);
        multiprocessors_ = multiprocessors;
    }
    /// The green context that limits the stream, or null.
    [[nodiscard]] std::shared_ptr<GreenContext> confined_to() const noexcept {
        return confined_to_.lock();
    }
    /// The maximum number of multiprocessors; 0: no limit.
    [[nodiscard]] unsigned multiprocessors() const noexcept { return multiprocessors_; }

    /// The client's values of attributes that have no effect here.
    [[nodiscard]] CUlaunchAttributeValue attribute(int id) const {
        std::lock_guard lock(attributes_mutex_);
        const auto found = attributes_.find(id);
        return found == attributes_.end() ? CUlaunchAttributeValue{} : found->second;
    }
    void set_attribute(int id, const CUlaunchAttributeValue &value) {
        std::lock_guard lock(attributes_mutex_);
        attributes_[id] = value;
    }

    /// The maximum number of kernel launches of the client that are in the stream and not done.
    static constexpr unsigned kMostLaunches = 1024;

    /// Counts a launch of the client, and returns when no more launches wait in the stream than it
    /// may hold. Throws Error(launch failed) if the client gives up. Any thread may call.
    void wait_for_room(const std::shared_ptr<Command> &launched);

  private:
    friend class Timeline;

    Context &context_;
    Kind kind_;
    std::atomic<unsigned> launches_{0};
    std::mutex milestone_mutex_;
    std::weak_ptr<Command> milestone_; ///< the latest launch of half as many as may wait
    std::atomic<int> priority_;
    std::uint64_t id_;
    std::weak_ptr<GreenContext> confined_to_;
    unsigned multiprocessors_ = 0;
    mutable std::mutex attributes_mutex_;
    std::map<int, CUlaunchAttributeValue> attributes_; ///< those that only affect speed
    // Protected by the timeline's mutex:
    check::CommandCounter counter_;
    StreamLevel level_;             ///< of the latest command
    std::shared_ptr<Command> last_; ///< the latest command; may be done
    bool retired_ = false; ///< destroyed by the client, and kept until its last command is done
};

/// All streams of a context. Protected by the timeline's mutex.
class StreamSet {
  private:
    friend class Timeline;

    std::shared_ptr<Stream> legacy_; ///< null after the context was torn down
    std::vector<std::shared_ptr<Stream>> others_;
};

} // namespace softcuda::device
