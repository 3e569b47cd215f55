// copy_team.cpp -- threads that copy host memory in parallel.
#include "memory/copy_team.h"

#include "target/spin_pause.h"

#include <abi/environment_number.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <system_error>
#include <thread>

namespace pycuda::detail {
namespace {

/// More threads do not help: eight cores of a server copy twice as fast as PCI Express 5 transfers.
constexpr unsigned most_threads = 8;
/// A smaller team is not faster than the driver's own copy.
constexpr unsigned fewest_threads = 3;

/// The value of PYCUDA_COPY_THREADS; empty if it is not set.
std::optional<unsigned> asked_threads() {
    constexpr std::uint64_t unset = UINT64_MAX;
    const std::uint64_t asked = abi::environment_number("PYCUDA_COPY_THREADS", unset);
    if (asked == unset)
        return {};
    return static_cast<unsigned>(std::min<std::uint64_t>(asked, 64));
}

unsigned wanted_threads() {
    if (const std::optional<unsigned> asked = asked_threads())
        return *asked;
    const unsigned threads = std::min(most_threads, std::thread::hardware_concurrency() / 2);
    return threads < fewest_threads ? 0 : threads;
}

/// Blocks all signals while threads are created. The threads inherit the mask, so that only the
/// program's own threads handle Ctrl-C.
class [[nodiscard]] SignalsBlocked {
  public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked &operator=(SignalsBlocked &&) = delete; // no copies either

  private:
    sigset_t before_;
};

} // namespace

CopyTeam *CopyTeam::instance() {
    static CopyTeam *const team = [] {
        const unsigned threads = wanted_threads();
        return threads == 0
                   ? nullptr
                   : new CopyTeam(threads -
                                  1); // never destroyed: its threads run until the process ends
    }();
    return team;
}

bool CopyTeam::asked_for() { return asked_threads().value_or(0) != 0; }

void CopyTeam::start_helpers() {
    const SignalsBlocked blocked;
    try {
        for (unsigned i = 0; i < helpers_; ++i)
            std::thread([this] { run_helper(); }).detach();
    } catch (const std::system_error &) { // no more threads: the team uses those that exist
    }
}

bool CopyTeam::take_chunk() noexcept {
    std::uint64_t chunk = next_.load(std::memory_order_acquire);
    while (chunk < allowed_.load(std::memory_order_acquire)) {
        if (!next_.compare_exchange_weak(chunk, chunk + 1, std::memory_order_acq_rel))
            continue;
        (*copy_)(chunk - first_);
        finished_.fetch_add(1, std::memory_order_release);
        return true;
    }
    return false;
}

void CopyTeam::run_helper() noexcept {
    using Clock = std::chrono::steady_clock;
    constexpr auto patience = std::chrono::microseconds(100);
    for (Clock::time_point idle_since = Clock::now();;) {
        const int call = calls_.load(std::memory_order_acquire);
        if (take_chunk())
            idle_since = Clock::now();
        else if (Clock::now() - idle_since < patience)
            pause();
        else {
            calls_.wait(call, std::memory_order_acquire);
            idle_since = Clock::now();
        }
    }
}

CopyTeam::Job::Job(CopyTeam &team, std::function<void(std::size_t)> copy)
    : team_(team), alone_(team.one_job_), copy_(std::move(copy)) {
    std::call_once(team_.started_, [this] { team_.start_helpers(); });
    team_.copy_ = &copy_;
    team_.first_ = team_.next_.load(std::memory_order_relaxed);
}

CopyTeam::Job::~Job() {
    const std::uint64_t end = team_.allowed_.load(std::memory_order_relaxed);
    std::uint64_t chunk = team_.next_.load(std::memory_order_relaxed);
    while (!team_.next_.compare_exchange_weak(chunk, end, std::memory_order_acq_rel))
        continue;
    team_.finished_.fetch_add(end - chunk, std::memory_order_relaxed);
    while (team_.finished_.load(std::memory_order_acquire) != end)
        pause();
}

void CopyTeam::Job::allow(std::size_t chunks) {
    team_.allowed_.fetch_add(chunks, std::memory_order_release);
    team_.calls_.fetch_add(1, std::memory_order_release);
    team_.calls_.notify_all();
}

void CopyTeam::Job::help() {
    if (!team_.take_chunk())
        pause();
}

} // namespace pycuda::detail
