// polled_wait.cpp -- the polling thread.
#include "device/polled_wait.h"

#include "device/context.h"
#include "device/system.h"
#include "rt/guard.h"

#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace softcuda::device {
namespace {

constexpr unsigned kSpins = 200; ///< rounds without a sleep
constexpr auto kPause = std::chrono::microseconds(20);

class Poller {
  public:
    /// Never destroyed: threads may wait while the process exits.
    static Poller &get() {
        static auto *const instance = new Poller;
        return *instance;
    }

    void start_thread() {
        std::lock_guard lock(mutex_);
        if (started_)
            return;
        std::thread([this] { loop(); }).detach();
        started_ = true;
    }

    void add(std::shared_ptr<PolledWait> wait) {
        {
            std::lock_guard lock(mutex_);
            added_.push_back(std::move(wait));
        }
        there_.notify_one();
    }

  private:
    [[noreturn]] void loop() {
        rt::prepare_thread_for_guards();
        std::vector<std::shared_ptr<PolledWait>> waits;
        for (unsigned round = 0;; round++) {
            {
                std::unique_lock lock(mutex_);
                if (waits.empty())
                    there_.wait(lock, [&] { return !added_.empty(); });
                if (!added_.empty())
                    round = 0;
                std::move(added_.begin(), added_.end(), std::back_inserter(waits));
                added_.clear();
            }
            for (const auto &wait : std::exchange(waits, {})) {
                if (!wait->over()) {
                    waits.push_back(wait);
                    continue;
                }
                wait->ask_host();
                System::get().timeline().finish(*wait);
            }
            if (round < kSpins)
                std::this_thread::yield();
            else
                std::this_thread::sleep_for(kPause);
        }
    }

    std::mutex mutex_;
    std::condition_variable there_;
    std::vector<std::shared_ptr<PolledWait>> added_;
    bool started_ = false;
};

} // namespace

PolledWait::PolledWait(Context &context, std::function<bool()> ready)
    : Command(context), ready_(std::move(ready)), interrupts_(context.interrupts()) {}

bool PolledWait::over() noexcept {
    if (context().sticky_error() != CUDA_SUCCESS)
        return true;
    if (context().interrupts() != interrupts_) {
        context().set_passing_error(CUDA_ERROR_LAUNCH_FAILED);
        return true;
    }
    bool is_ready = false;
    rt::Guard guard;
    const rt::Guard::Exit exit = guard.run([&] { is_ready = ready_(); });
    if (exit == rt::Guard::Exit::Returned)
        return is_ready;
    context().set_passing_error(CUDA_ERROR_ILLEGAL_ADDRESS); // the memory was freed
    return true;
}

profile::Event PolledWait::described() const {
    return {.activity = profile::Activity::StreamWait, .name = "wait for memory"};
}

void PolledWait::start() noexcept {
    note_begin();
    Poller::get().add(std::static_pointer_cast<PolledWait>(shared_from_this()));
}

void enqueue_wait(Stream &stream, std::function<bool()> ready) {
    Poller::get().start_thread();
    auto wait = std::make_shared<PolledWait>(stream.context(), std::move(ready));
    if (System::get().timeline().append(stream, wait))
        wait->start();
}

} // namespace softcuda::device
