// client_question.cpp -- a wait that polls.
//
// The pauses are those of core's wait_loop(): during the first millisecond, the device's threads
// can use the core; later pauses are 1/16 of the time waited so far, at most a millisecond.
#include "device/client_question.h"

#include "device/command.h"
#include "device/context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace softcuda::device::client_question {
namespace {

/// The maximum time for work to end after an interrupt.
constexpr auto kLastChance = std::chrono::milliseconds(200);

std::atomic<int (*)()> question{nullptr};
std::atomic<pthread_t> asked_thread{};

struct CrossWait {
    std::weak_ptr<Command> command, other;
};

struct CrossWaits {
    std::mutex mutex;
    std::vector<CrossWait> list;
};

/// Never destroyed: threads may wait while the process exits.
CrossWaits &cross_waits() {
    static auto *const instance = new CrossWaits;
    return *instance;
}

bool is_over(const std::weak_ptr<Command> &command) {
    const std::shared_ptr<Command> alive = command.lock();
    return !alive || alive->done();
}

/// Unfinished commands of other contexts for which this context must wait. An unfinished command
/// keeps its context alive.
std::vector<std::shared_ptr<Command>> waited_for_by(const Context &context) {
    std::vector<std::shared_ptr<Command>> found;
    std::lock_guard lock(cross_waits().mutex);
    for (const CrossWait &wait : cross_waits().list) {
        const std::shared_ptr<Command> command = wait.command.lock(), other = wait.other.lock();
        if (command && other && !command->done() && !other->done() &&
            &command->context() == &context)
            found.push_back(other);
    }
    return found;
}

void interrupt_all(Context &first) {
    std::set<Context *> known{&first};
    std::vector<Context *> work{&first};
    std::vector<std::shared_ptr<Command>> kept;
    while (!work.empty()) {
        Context *context = work.back();
        work.pop_back();
        for (const std::shared_ptr<Command> &other : waited_for_by(*context)) {
            kept.push_back(other);
            if (known.insert(&other->context()).second)
                work.push_back(&other->context());
        }
        context->interrupt();
    }
}

} // namespace

void remember(const std::shared_ptr<Command> &command, const std::shared_ptr<Command> &other) {
    std::lock_guard lock(cross_waits().mutex);
    std::erase_if(cross_waits().list, [](const CrossWait &wait) {
        return is_over(wait.command) || is_over(wait.other);
    });
    cross_waits().list.push_back({command, other});
}

void set(int (*keep_waiting)(), pthread_t thread) noexcept {
    question = nullptr; // until the thread to call is known
    asked_thread = thread;
    question = keep_waiting;
}

bool asked_here() noexcept {
    return question.load() != nullptr && pthread_equal(asked_thread.load(), pthread_self()) != 0;
}

bool wait(Command &command) {
    using namespace std::chrono_literals;
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    Clock::time_point next_question = start + 5ms;
    std::optional<Clock::time_point> given_up;
    while (!command.done()) {
        const Clock::time_point now = Clock::now();
        if (now - start < 1ms) {
            std::this_thread::yield();
            continue;
        }
        if (given_up && now >= *given_up)
            return false;
        if (now >= next_question) {
            const auto keep_waiting = question.load();
            if (keep_waiting && keep_waiting() == 0) {
                interrupt_all(command.context());
                given_up = given_up.value_or(now + kLastChance);
            }
            next_question = Clock::now() + 5ms;
        }
        std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 16, 1ms));
    }
    return true;
}

} // namespace softcuda::device::client_question
