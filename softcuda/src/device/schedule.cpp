// schedule.cpp -- the held commands, and the thread that starts them.
#include "device/schedule.h"

#include <algorithm>
#include <ctime>
#include <thread>

namespace softcuda::device {
namespace {

using namespace std::chrono_literals;

/// The level from which on a command starts within the call that enqueues it.
constexpr std::uint32_t kEager = 50;
constexpr std::uint32_t kLevels = 100;
/// The number of commands after which a stream's level changes, on average.
constexpr std::uint64_t kCommandsOfLevel = 8;

/// A command that takes longer runs beside the next ones: one of them may be what it waits for. The
/// first limit is processor time, because a short command takes long on a busy machine.
constexpr std::chrono::nanoseconds kLongCommand = 5ms;
constexpr auto kLongWait = 100ms;
/// For functions of the client, which often need a lock that a waiting thread has.
constexpr auto kLongFunction = 5ms;
/// The most time that a call waits for eager commands.
constexpr auto kLongestCall = 1s;
/// The time without calls after which held commands start one by one, and the shortest such time,
/// for a program that polls memory.
constexpr auto kPatience = 250ms;
constexpr auto kLeastPatience = 1ms;

thread_local bool is_driver_thread = false;

/// A good mixture of the bits of three numbers (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
    std::uint64_t bits = a;
    for (const std::uint64_t next : {b, c}) {
        bits += 0x9e3779b97f4a7c15 + next;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
        bits ^= bits >> 31;
    }
    return bits;
}

/// Processor time of the process.
std::chrono::nanoseconds processor_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

} // namespace

Schedule::DriverThread::DriverThread() noexcept : outer_(is_driver_thread) {
    is_driver_thread = true;
}

Schedule::DriverThread::~DriverThread() { is_driver_thread = outer_; }

Schedule::Wait::Wait(Schedule *schedule, const Command &command)
    : schedule_(schedule), command_(command) {
    if (!schedule_)
        return;
    std::lock_guard lock(schedule_->mutex_);
    schedule_->waited_for_.push_back(&command_);
    schedule_->note_call_locked();
}

Schedule::Wait::~Wait() {
    if (!schedule_)
        return;
    std::unique_lock lock(schedule_->mutex_);
    std::vector<const Command *> &all = schedule_->waited_for_;
    all.erase(std::ranges::find(all, &command_));
    // The end of `command` may have released eager commands, which come before the next call's.
    if (!is_driver_thread)
        schedule_->wait_until_quiet(lock);
}

Schedule::Schedule(std::uint64_t seed)
    : seed_(seed), host_called_(Clock::now()), patience_(kPatience) {
    held_.reserve(64);
    std::thread([this] { loop(); }).detach();
}

void Schedule::draw(StreamLevel &level, std::uint64_t stream) const noexcept {
    const std::uint64_t bits = mix(seed_, stream, level.commands);
    if (level.commands++ == 0 || bits % kCommandsOfLevel == 0)
        level.level = static_cast<std::uint32_t>(bits / kCommandsOfLevel % kLevels);
}

std::size_t Schedule::choose(std::size_t limit) noexcept {
    std::lock_guard lock(mutex_);
    return mix(seed_, ~std::uint64_t{0}, choices_++) % limit;
}

void Schedule::hold(std::shared_ptr<Command> command) {
    std::lock_guard lock(mutex_);
    held_.push_back(std::move(command));
    changed_.notify_all();
}

void Schedule::note_done() noexcept {
    std::lock_guard lock(mutex_); // so that a thread that finds it unfinished waits in time
    changed_.notify_all();
}

void Schedule::note_call_locked() noexcept {
    host_called_ = Clock::now();
    patience_ = kPatience;
    changed_.notify_all();
}

bool Schedule::is_quiet_locked() noexcept {
    return !running_ && (held_.empty() || !may_start_locked(**first_locked()));
}

void Schedule::settle() {
    if (is_driver_thread)
        return;
    std::unique_lock lock(mutex_);
    note_call_locked();
    wait_until_quiet(lock);
}

void Schedule::advance() {
    if (is_driver_thread)
        return;
    std::unique_lock lock(mutex_);
    note_call_locked();
    if (!held_.empty())
        steps_++;
    wait_until_quiet(lock);
}

void Schedule::wait_until_quiet(std::unique_lock<std::mutex> &lock) {
    const std::uint64_t given_up = given_up_;
    changed_.wait_for(lock, kLongestCall,
                      [&] { return given_up_ != given_up || is_quiet_locked(); });
}

void Schedule::wait_for_end(std::unique_lock<std::mutex> &lock, const Command &command) {
    const Clock::time_point give_up =
        Clock::now() + (command.calls_client() ? kLongFunction : kLongWait);
    const std::chrono::nanoseconds most = processor_time() + kLongCommand;
    while (!command.done() && Clock::now() < give_up && processor_time() < most)
        changed_.wait_for(lock, 1ms);
    given_up_ += command.done() ? 0 : 1;
}

/// The command that starts next: of the highest level; of several, the one that was held first.
Schedule::Held::iterator Schedule::first_locked() noexcept {
    return std::ranges::max_element(held_, {}, [](const auto &held) { return held->level(); });
}

bool Schedule::may_start_locked(const Command &command) const noexcept {
    return command.level() >= kEager || steps_ > 0 ||
           std::ranges::any_of(waited_for_, [](const Command *one) { return !one->done(); });
}

void Schedule::loop() {
    const DriverThread mine;
    std::unique_lock lock(mutex_);
    for (;;) {
        if (held_.empty()) {
            changed_.wait(lock);
            continue;
        }
        const auto first = first_locked();
        if (!may_start_locked(**first)) {
            if (Clock::now() < host_called_ + patience_) {
                changed_.wait_until(lock, host_called_ + patience_);
                continue;
            }
            patience_ = std::max<Clock::duration>(patience_ / 2, kLeastPatience);
            host_called_ = Clock::now();
        }
        steps_ -= steps_ > 0 ? 1 : 0;
        const std::shared_ptr<Command> command = std::move(*first);
        held_.erase(first);
        running_ = true;
        lock.unlock();
        command->start();
        lock.lock();
        wait_for_end(lock, *command);
        running_ = false;
        changed_.notify_all();
    }
}

} // namespace softcuda::device
