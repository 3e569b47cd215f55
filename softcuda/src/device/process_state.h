// process_state.h -- whether a process may call the driver: tools that make checkpoints of
// processes lock it first.
//
// The state is in a page without a name that the process shares with whoever may look into it, as a
// debugger may: tools find it among the open files of the process. It needs no thread of the
// process. A locked process keeps its calls waiting; work that it gave to the device before is
// completed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cuda.h>
#include <memory>
#include <optional>

namespace softcuda::device {

class ProcessState {
  public:
    /// Makes the page of this process; without memory or files, other processes do not find it.
    /// Called once, by System::start().
    static void publish() noexcept;
    /// The state of any process that uses softcuda. Throws Error: operating system (no such
    /// process, or not permitted), not initialized (it does not use softcuda).
    static std::shared_ptr<ProcessState> find(int process);
    ProcessState(const ProcessState &) = delete;
    ~ProcessState();

    [[nodiscard]] CUprocessState get() const noexcept;
    /// Locks a running process when its work is done. Throws Error: not ready after `limit`; the
    /// process runs on then.
    void lock(std::optional<std::chrono::milliseconds> limit);
    /// Throws Error(illegal state) if the present state is not `from`.
    void change(CUprocessState from, CUprocessState to);

    /// Returns when this process is not locked. For the beginning of calls.
    static void wait_until_running() noexcept {
        const Page *const page = own_.load(std::memory_order_acquire);
        if (page && page->state.load(std::memory_order_relaxed) != CU_PROCESS_STATE_RUNNING)
            wait();
    }
    // This process has more or less work to complete.
    static void add_work() noexcept { own().unfinished.fetch_add(1, std::memory_order_relaxed); }
    static void finish_work() noexcept { own().unfinished.fetch_sub(1, std::memory_order_release); }

  private:
    struct Page {
        std::uint64_t mark;
        std::int32_t process;
        std::atomic<std::uint32_t> state;
        std::atomic<std::uint64_t> unfinished;
    };

    ProcessState(int process, Page *page) : process_(process), page_(page) {}
    static std::shared_ptr<ProcessState> map(int process, const char *file);
    static Page &own() noexcept { return *own_.load(std::memory_order_relaxed); }
    static void wait() noexcept;

    static std::atomic<Page *> own_;
    int process_;
    Page *page_;
};

} // namespace softcuda::device
