// session.h -- what a library's handle or plan has in common: its context, its stream, and the
// order of its calls.
#pragma once

#include <cstddef>
#include <cuda.h>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace softlib {

/// Throws Failure for a failed call of the driver.
void check_driver(CUresult result, const char *function);

/// The threads that a call computes with: the one in which it runs, or the library's own as well.
enum class Threads { One, All };

/// The work of one handle, in the order of its stream. Device memory of softcuda is memory of the
/// process, so the work reads and writes it in place. All functions may be called by several
/// threads.
class Session {
  public:
    /// For the calling thread's context, or the first device's primary context if it has none.
    Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    ~Session();

    void set_stream(CUstream stream);
    [[nodiscard]] CUstream stream() const;

    /// Puts `work` into the stream; a capture in progress records it, and keeps it as long as the
    /// graph. Short work runs at once in the calling thread if the stream has nothing else to do:
    /// the stream's thread would need time to wake up, and has none of the data in its cache. The
    /// limit is higher for work that uses all threads: it leaves no processor for the caller, and
    /// cannot run beside such work of another stream. `operations` estimates the work's length.
    /// Throws Failure(execution failed) if earlier work of the handle has failed.
    void enqueue(const char *function, std::function<void()> work, double operations,
                 Threads threads) {
        enqueue(function, std::move(work), operations, threads, stream());
    }
    /// The same in another stream, for libraries whose calls name one.
    void enqueue(const char *function, std::function<void()> work, double operations,
                 Threads threads, CUstream stream);

    /// Enqueues `work` and returns after it is done, for results in the host's memory.
    void run(const char *function, std::function<void()> work);

    /// Returns after all work in the stream is done.
    void synchronize() const;

    /// As synchronize(), unless the stream is gone or being captured: for the handle's end.
    void finish() const noexcept;

    /// Throws Failure unless `bytes` bytes from `address` are memory that a device can use.
    void check_memory(const void *address, std::size_t bytes, const char *what) const;

  private:
    struct Outcome;
    struct Work;

    [[nodiscard]] static bool is_idle(CUstream stream);
    /// The stream's context; of a default stream, the calling thread's, as the runtime has it. A
    /// handle may serve several contexts of a device, and outlive the one in which it was made.
    [[nodiscard]] CUcontext context_of(CUstream stream) const;
    /// The graph that records the stream, or null.
    [[nodiscard]] static CUgraph captured(CUstream stream);

    CUcontext context_ = nullptr;
    CUdevice retained_ = -1; ///< the device whose primary context this object holds
    mutable std::mutex mutex_;
    CUstream stream_ = nullptr;
    std::shared_ptr<Outcome> outcome_;
    std::mutex running_; ///< held while work runs in the calling thread
};

/// Whether the process can read `bytes` bytes. Asks the kernel for each page. For addresses that
/// are known only while a stream runs, when the driver cannot be asked.
[[nodiscard]] bool is_readable(const void *address, std::size_t bytes) noexcept;

} // namespace softlib
