// client_question.cpp -- a wait that polls.
//
// The pauses are those of core's wait_loop(): the first millisecond gives the device's own threads
// the core, later pauses are 1/16 of the time waited so far, at most a millisecond.
#include "device/client_question.h"

#include "device/command.h"
#include "device/context.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace softcuda::device::client_question {
namespace {

/// How long what an interrupt leaves may still take.
constexpr auto kLastChance = std::chrono::milliseconds(200);

std::atomic<int (*)()> question{nullptr};
std::atomic<pthread_t> asked_thread{};

} // namespace

void set(int (*keep_waiting)(), pthread_t thread) noexcept {
    question = nullptr; // until it is clear who is asked
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
                command.context().interrupt();
                given_up = given_up.value_or(now + kLastChance);
            }
            next_question = Clock::now() + 5ms;
        }
        std::this_thread::sleep_for(std::min<Clock::duration>((now - start) / 16, 1ms));
    }
    return true;
}

} // namespace softcuda::device::client_question
