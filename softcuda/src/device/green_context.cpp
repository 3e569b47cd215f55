// green_context.cpp -- streams with fewer multiprocessors, and events of several streams.
#include "device/green_context.h"

#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "device/registry.h"
#include "device/system.h"

#include <atomic>
#include <utility>

namespace softcuda::device {
namespace {

std::uint64_t next_id() {
    static std::atomic<std::uint64_t> next{1};
    return next++;
}

bool is_alive(const std::shared_ptr<Stream> &stream) {
    return stream && registry<Stream>().find(stream.get()) != nullptr;
}

} // namespace

GreenContext::GreenContext(Device &device, std::vector<MultiprocessorRange> ranges)
    : device_(device), context_(device.retain_primary()), id_(next_id()),
      ranges_(std::move(ranges)) {}

GreenContext::~GreenContext() {
    if (is_alive(default_)) {
        registry<Stream>().remove(default_.get());
        System::get().timeline().remove_stream(default_);
    }
    try {
        device_.release_primary();
    } catch (const Error &) {
        // It was released too often.
    }
}

MultiprocessorRange GreenContext::range() const noexcept {
    MultiprocessorRange whole = ranges_.front();
    whole.count = 0;
    for (const MultiprocessorRange &range : ranges_)
        whole.count += range.count;
    return whole;
}

std::shared_ptr<Stream> GreenContext::create_stream(Stream::Kind kind, int priority) {
    auto stream = std::make_shared<Stream>(context_, kind, priority);
    stream->confine(weak_from_this(), range().count);
    System::get().timeline().add_stream(stream);
    registry<Stream>().add(stream);
    std::lock_guard lock(mutex_);
    std::erase_if(streams_, [](const std::weak_ptr<Stream> &other) { return other.expired(); });
    streams_.push_back(stream);
    return stream;
}

std::shared_ptr<Stream> GreenContext::default_stream() {
    {
        std::lock_guard lock(mutex_);
        if (is_alive(default_)) // a reset of the primary context destroys it
            return default_;
    }
    std::shared_ptr<Stream> made = create_stream(Stream::Kind::Blocking, kLeastPriority);
    std::lock_guard lock(mutex_);
    return default_ = std::move(made);
}

std::vector<std::shared_ptr<Stream>> GreenContext::streams() {
    std::lock_guard lock(mutex_);
    Timeline &timeline = System::get().timeline();
    std::vector<std::shared_ptr<Stream>> used; // also destroyed ones whose work is not done
    for (const std::weak_ptr<Stream> &known : streams_)
        if (std::shared_ptr<Stream> stream = known.lock();
            stream && (is_alive(stream) || !timeline.pending(*stream).empty()))
            used.push_back(std::move(stream));
    return used;
}

void GreenContext::record(Event &event) { record_all(context_, streams(), event); }

void GreenContext::hold(const Event &event) {
    for (const std::shared_ptr<Stream> &stream : streams())
        event.hold(*stream);
}

void record_all(Context &context, const std::vector<std::shared_ptr<Stream>> &streams,
                Event &event) {
    Timeline &timeline = System::get().timeline();
    std::vector<std::shared_ptr<Stream>> busy = streams;
    std::erase_if(busy, [&](const auto &stream) { return timeline.pending(*stream).empty(); });
    if (busy.size() <= 1 && !streams.empty())
        return event.record(*(busy.empty() ? streams : busy).front());
    const auto all = std::make_shared<Stream>(context, Stream::Kind::NonBlocking, kLeastPriority);
    timeline.add_stream(all);
    for (const std::shared_ptr<Stream> &stream : busy) {
        Event passed(context, CU_EVENT_DISABLE_TIMING);
        passed.record(*stream);
        passed.hold(*all);
    }
    event.record(*all);
    timeline.remove_stream(all);
}

} // namespace softcuda::device
