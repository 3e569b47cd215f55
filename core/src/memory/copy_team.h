// copy_team.h -- threads that copy host memory in parallel, because one core is slower than the
// bus.
#pragma once

#include <pycuda/caller_lock.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace pycuda::detail {

/// Helper threads for a calling thread. They start at the first use, spin for a short time after
/// each piece of work, then sleep. They run until the process ends.
class CopyTeam {
  public:
    /// The process's team. Null on few cores, where a team would not be faster than the driver.
    /// PYCUDA_COPY_THREADS sets the number of threads including the caller's; 0 disables the team.
    static CopyTeam *instance();
    /// True if PYCUDA_COPY_THREADS is set to a number other than 0.
    static bool asked_for();

    class Job;

  private:
    explicit CopyTeam(unsigned helpers) : helpers_(helpers) {}
    void start_helpers();
    void run_helper() noexcept;
    bool take_chunk() noexcept;

    const unsigned helpers_;
    std::once_flag started_;
    CallerMutex one_job_;

    // Chunk numbers continue over all jobs, so a number identifies one chunk of one job.
    std::atomic<std::uint64_t> next_{0};     ///< the next chunk to copy
    std::atomic<std::uint64_t> allowed_{0};  ///< chunks before this one may be copied
    std::atomic<std::uint64_t> finished_{0}; ///< the number of finished chunks
    std::atomic<int> calls_{0};              ///< wakes helpers that sleep
    const std::function<void(std::size_t)> *copy_ = nullptr; // of the job
    std::uint64_t first_ = 0;                                // chunk of the job
};

/// A job: a number of chunks. Each chunk is copied once by one of the threads, in ascending order,
/// after it is allowed. A job of another thread waits for the end of this job.
class [[nodiscard]] CopyTeam::Job {
  public:
    /// `copy` is called with the number of a chunk, from many threads; it must not throw.
    Job(CopyTeam &team, std::function<void(std::size_t)> copy);
    /// Waits for chunks that are being copied. Chunks that no thread has started are dropped.
    ~Job();
    Job &operator=(Job &&) = delete; // no copies either

    /// Allows the team to copy the next `chunks` chunks.
    void allow(std::size_t chunks);
    /// Copies a chunk in this thread. Pauses for a short time if no chunk is available.
    void help();

  private:
    CopyTeam &team_;
    const std::unique_lock<CallerMutex> alone_;
    const std::function<void(std::size_t)> copy_;
};

} // namespace pycuda::detail
