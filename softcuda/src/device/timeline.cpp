// timeline.cpp -- stores and processes the graph of commands.
#include "device/timeline.h"

#include "device/client_question.h"
#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "device/process_state.h"
#include "device/system.h"
#include "profile/modes.h"
#include "rt/grid.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <new>
#include <unistd.h>
#include <utility>

namespace softcuda::device {
namespace {

std::uint64_t next_stream_id() {
    static std::atomic<std::uint64_t> next{3}; // 1 and 2 are handles of the default streams
    return next++;
}

/// Starts commands one after the other. A command that is done as soon as it starts makes other
/// commands ready. These are appended to the queue of the running loop, so that a long chain does
/// not cause a deep recursion.
void start_all(std::vector<std::shared_ptr<Command>> &&ready) noexcept {
    static thread_local std::deque<std::shared_ptr<Command>> *queue = nullptr;
    if (queue) {
        std::move(ready.begin(), ready.end(), std::back_inserter(*queue));
        return;
    }
    std::deque<std::shared_ptr<Command>> own(std::make_move_iterator(ready.begin()),
                                             std::make_move_iterator(ready.end()));
    queue = &own;
    while (!own.empty()) {
        const std::shared_ptr<Command> command = std::move(own.front());
        own.pop_front();
        command->start();
    }
    queue = nullptr;
}

/// The number of a stream in the profile: CU_STREAM_LEGACY for the default stream.
std::uint64_t number_of(const Stream &stream) {
    return stream.kind() == Stream::Kind::Legacy ? 1 : stream.id();
}

/// A wait of the calling host thread, recorded if a profile is on.
class NotedWait {
  public:
    NotedWait() noexcept
        : begin_(profile::modes() & profile::Timeline ? rt::monotonic_nanoseconds() : 0) {}
    NotedWait(const NotedWait &) = delete;
    NotedWait &operator=(const NotedWait &) = delete;
    ~NotedWait() {
        if (begin_ != 0)
            profile::add_event({.activity = profile::Activity::HostWait,
                                .name = {},
                                .thread = gettid(),
                                .begin = begin_,
                                .end = rt::monotonic_nanoseconds()});
    }

  private:
    std::uint64_t begin_;
};

} // namespace

bool Command::wait_unless_given_up(HostNotified notified) {
    if (!done()) {
        const NotedWait noted;
        const Schedule::Wait scheduled(System::get().timeline().schedule(), *this);
        help();
        if (client_question::asked_here()) {
            if (!client_question::wait(*this))
                return false;
        } else {
            while (!done())
                done_.wait(0, std::memory_order_acquire);
        }
    }
    if (notified == HostNotified::Yes)
        order_before_host();
    return true;
}

void Command::note_begin() noexcept {
    if (profile::modes() & profile::Timeline)
        begun_ = rt::monotonic_nanoseconds();
}

void Command::note_end() const noexcept try {
    profile::Event event = described();
    event.stream = stream_;
    event.device = context().device().ordinal();
    event.begin = begun_;
    event.end = rt::monotonic_nanoseconds();
    profile::add_event(std::move(event));
} catch (const std::bad_alloc &) { // then an event is missing
}

void Command::wait() {
    while (!wait_unless_given_up()) {
    }
}

Stream::Stream(Context &context, Kind kind, int priority)
    : context_(context), kind_(kind), priority_(priority), id_(next_stream_id()) {}

// Every 512th launch waits for the launch 512 before it: the others take no lock. An interrupt of
// the client ends the kernels of the context, and the new launch with them.
void Stream::wait_for_room(const std::shared_ptr<Command> &launched) {
    if (++launches_ % (kMostLaunches / 2) != 0)
        return;
    std::shared_ptr<Command> earlier;
    {
        std::lock_guard lock(milestone_mutex_);
        earlier = std::exchange(milestone_, launched).lock();
    }
    if (earlier && !earlier->wait_unless_given_up(HostNotified::No))
        throw Error(CUDA_ERROR_LAUNCH_FAILED);
}

void Timeline::add_edge(const std::shared_ptr<Command> &before,
                        const std::shared_ptr<Command> &after) {
    if (before && before->done() && before->order_ && after->order_)
        after->order_->follow(*before->order_);
    if (!before || before->done())
        return;
    before->followers_.push_back(after);
    after->blockers_++;
}

/// Whether a stream that the client has destroyed can be freed. Its errors are no longer reported.
bool Timeline::is_over(const Stream &stream) {
    if (stream.last_ && !stream.last_->done())
        return false;
    if (stream.last_)
        stream.last_->order_before_host();
    return true;
}

/// Whether the client must wait for the command.
bool Timeline::is_pending(const std::shared_ptr<Command> &command, HostNotified notified) {
    if (!command)
        return false;
    if (!command->done())
        return true;
    if (notified == HostNotified::Yes)
        command->order_before_host();
    return false;
}

void Timeline::add_edges_to_all(StreamSet &set, const std::shared_ptr<Command> &after) {
    std::erase_if(set.others_, [](const std::shared_ptr<Stream> &stream) {
        return stream->retired_ && is_over(*stream);
    });
    for (const std::shared_ptr<Stream> &stream : set.others_)
        if (stream->kind_ == Stream::Kind::Blocking)
            add_edge(stream->last_, after);
}

std::shared_ptr<Command> Timeline::note_work_locked(Stream &stream,
                                                    const std::shared_ptr<Command> &command) {
    command->is_work_ = true;
    ProcessState::add_work();
    command->stream_ = number_of(stream);
    if (schedule_) {
        schedule_->draw(stream.level_, stream.id());
        command->level_ = stream.level_.level;
    }
    return std::exchange(stream.last_, command);
}

/// Whether the caller must start the command, for which nothing has to be done first.
bool Timeline::starts_now(const std::shared_ptr<Command> &command) {
    if (!schedule_)
        return true;
    schedule_->hold(command);
    schedule_->settle();
    return false;
}

bool Timeline::append(Stream &stream, const std::shared_ptr<Command> &command,
                      const std::shared_ptr<Command> &also) {
    std::shared_ptr<Command> latest; // before this one
    std::unique_lock lock(mutex_);
    StreamSet &set = stream.context_.streams();
    require(set.legacy_ != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    command->order_ = stream.counter_.next();
    add_edge(stream.last_, command);
    if (stream.kind_ == Stream::Kind::Legacy)
        add_edges_to_all(set, command);
    else if (stream.kind_ == Stream::Kind::Blocking)
        add_edge(set.legacy_->last_, command);
    add_edge(also, command);
    latest = note_work_locked(stream, command);
    if (command->blockers_ != 0)
        return false;
    lock.unlock();
    return starts_now(command);
}

bool Timeline::append_after(Stream &stream, const std::shared_ptr<Command> &command,
                            const std::vector<std::shared_ptr<Stream>> &others) {
    std::shared_ptr<Command> latest; // before this one
    std::unique_lock lock(mutex_);
    require(stream.context_.streams().legacy_ != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    command->order_ = stream.counter_.next();
    add_edge(stream.last_, command);
    for (const std::shared_ptr<Stream> &other : others)
        add_edge(other->last_, command);
    latest = note_work_locked(stream, command);
    if (command->blockers_ != 0)
        return false;
    lock.unlock();
    return starts_now(command);
}

void Timeline::finish(Command &command) noexcept {
    if (command.begun_ != 0)
        command.note_end();
    std::vector<std::shared_ptr<Command>> ready;
    {
        std::lock_guard lock(mutex_);
        for (std::shared_ptr<Command> &follower : command.followers_) {
            if (command.order_ && follower->order_)
                follower->order_->follow(*command.order_);
            if (--follower->blockers_ == 0) {
                if (schedule_) // before a host that waits for this command can go on
                    schedule_->hold(std::move(follower));
                else
                    ready.push_back(std::move(follower));
            }
        }
        command.followers_.clear();
        command.done_.store(1, std::memory_order_release);
        if (command.is_work_)
            ProcessState::finish_work();
    }
    command.done_.notify_all();
    if (schedule_)
        schedule_->note_done();
    if (!ready.empty())
        start_all(std::move(ready));
}

std::vector<std::shared_ptr<Command>> Timeline::pending(const Stream &stream) {
    std::vector<std::shared_ptr<Command>> result;
    std::lock_guard lock(mutex_);
    auto add = [&](const std::shared_ptr<Command> &command) {
        if (is_pending(command, HostNotified::Yes))
            result.push_back(command);
    };
    add(stream.last_);
    if (stream.kind_ == Stream::Kind::Legacy)
        for (const std::shared_ptr<Stream> &other : stream.context_.streams().others_)
            if (other->kind_ == Stream::Kind::Blocking)
                add(other->last_);
    return result;
}

std::vector<std::shared_ptr<Command>> Timeline::pending(const Context &context,
                                                        HostNotified notified) {
    std::lock_guard lock(mutex_);
    return unfinished(context.streams(), notified);
}

std::vector<std::shared_ptr<Command>> Timeline::unfinished(const StreamSet &set,
                                                           HostNotified notified) {
    std::vector<std::shared_ptr<Command>> result;
    if (set.legacy_ && is_pending(set.legacy_->last_, notified))
        result.push_back(set.legacy_->last_);
    for (const std::shared_ptr<Stream> &stream : set.others_)
        if (is_pending(stream->last_, notified))
            result.push_back(stream->last_);
    return result;
}

void Timeline::add_stream(const std::shared_ptr<Stream> &stream) {
    std::lock_guard lock(mutex_);
    StreamSet &set = stream->context_.streams();
    if (stream->kind_ == Stream::Kind::Legacy)
        set.legacy_ = stream;
    else
        set.others_.push_back(stream);
}

void Timeline::remove_stream(const std::shared_ptr<Stream> &stream) {
    std::lock_guard lock(mutex_);
    stream->retired_ = true;
    std::erase_if(stream->context_.streams().others_, [&](const std::shared_ptr<Stream> &other) {
        return other == stream && is_over(*stream);
    });
}

std::vector<std::shared_ptr<Command>> Timeline::close(Context &context) {
    std::vector<std::shared_ptr<Stream>> gone;  // destroyed after the lock is released
    std::vector<std::shared_ptr<Command>> done; // own what they used: modules, memory of the host
    std::lock_guard lock(mutex_);
    StreamSet &set = context.streams();
    std::vector<std::shared_ptr<Command>> left = unfinished(set, HostNotified::Yes);
    if (left.empty()) {
        gone = std::move(set.others_);
        if (set.legacy_)
            gone.push_back(std::move(set.legacy_));
        set.others_.clear();
        set.legacy_.reset();
        for (const std::shared_ptr<Stream> &stream : gone) // the client or the context may own it
            done.push_back(std::move(stream->last_));
    }
    return left;
}

std::vector<std::shared_ptr<Stream>> Timeline::streams(Context &context) {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Stream>> all = context.streams().others_;
    if (context.streams().legacy_)
        all.push_back(context.streams().legacy_);
    std::erase_if(all, [](const std::shared_ptr<Stream> &stream) {
        return stream->retired_ && is_over(*stream);
    });
    return all;
}

} // namespace softcuda::device
