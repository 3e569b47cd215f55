// long_run.cpp -- slots for the kernels that run, and the thread that looks at them.
//
// A slot's state is a number: the lowest bit says that a kernel runs, the next one that a thread
// reads or writes its name, and the others count the runs. So a later run of the same kernel has
// another state. If all slots are in use, a kernel is not observed.
#include "device/long_run.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <signal.h>
#include <thread>

namespace softcuda::device {

struct alignas(64) LongRun::Slot {
    std::atomic<std::uint64_t> state{0};
    std::atomic<const std::string *> kernel{nullptr};
    // Of the looking thread:
    std::uint64_t seen = 0;
    unsigned looks = 0;
};

namespace {

constexpr std::uint64_t kRuns = 1, kLocked = 2, kOneRun = 4;
constexpr std::chrono::seconds kInterval{5};
constexpr unsigned kLooks = 3; ///< the time from the first to the last one: 10 s

std::array<LongRun::Slot, 16> slots;

bool is_set(const char *variable) {
    const char *const value = std::getenv(variable);
    return value && *value && std::strcmp(value, "0") != 0;
}

/// The kernel's name; empty if the run has ended.
std::optional<std::string> name_in(LongRun::Slot &slot, std::uint64_t state) {
    if (!slot.state.compare_exchange_strong(state, state | kLocked, std::memory_order_acq_rel))
        return {};
    std::string name;
    try {
        name = *slot.kernel.load(std::memory_order_relaxed);
    } catch (const std::bad_alloc &) { // then without a name
    }
    slot.state.store(state, std::memory_order_release);
    return name;
}

/// The name of a kernel that `kLooks` calls in turn have found.
std::optional<std::string> look() {
    for (LongRun::Slot &slot : slots) {
        const std::uint64_t state = slot.state.load(std::memory_order_acquire);
        const bool runs = (state & (kRuns | kLocked)) == kRuns;
        slot.looks = !runs ? 0 : state == slot.seen ? slot.looks + 1 : 1;
        slot.seen = state;
        if (slot.looks >= kLooks)
            if (std::optional<std::string> name = name_in(slot, state))
                return name;
    }
    return {};
}

void look_until_found() noexcept {
    std::optional<std::string> kernel;
    while (!kernel) {
        std::this_thread::sleep_for(kInterval);
        kernel = look();
    }
    if (!is_set("SOFTCUDA_QUIET") && !is_set("PYCUDA_QUIET"))
        std::fprintf(stderr,
                     "softcuda: kernel `%s` has been running for more than 10 s. If it has an "
                     "endless loop, stop the program with Ctrl-C, or with the stop button of the "
                     "notebook. (This line appears once; SOFTCUDA_QUIET=1 hides it.)\n",
                     kernel->c_str());
}

/// The thread has no signals of the client.
void start_looking() noexcept {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread(look_until_found).detach();
    } catch (const std::exception &) { // no thread: then there is no message
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

void LongRun::begin(const std::string &kernel) noexcept {
    static std::atomic_flag started;
    if (!started.test(std::memory_order_relaxed) && !started.test_and_set())
        start_looking();
    for (Slot &slot : slots) {
        std::uint64_t state = slot.state.load(std::memory_order_relaxed);
        if ((state & kRuns) != 0)
            continue;
        const std::uint64_t mine = state + kOneRun + kRuns;
        if (!slot.state.compare_exchange_strong(state, mine | kLocked, std::memory_order_acquire))
            continue;
        slot.kernel.store(&kernel, std::memory_order_relaxed);
        slot.state.store(mine, std::memory_order_release);
        slot_ = &slot;
        return;
    }
}

void LongRun::end() noexcept {
    if (!slot_)
        return;
    std::uint64_t state = slot_->state.load(std::memory_order_relaxed) & ~kLocked;
    while (!slot_->state.compare_exchange_weak(state, state & ~kRuns, std::memory_order_acq_rel)) {
        state &= ~kLocked; // its name is being copied
        std::this_thread::yield();
    }
    slot_ = nullptr;
}

} // namespace softcuda::device
