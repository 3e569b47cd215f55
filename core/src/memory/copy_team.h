// copy_team.h -- threads that copy host memory side by side, as one core alone cannot feed a bus.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace pycuda::detail {

/// Helpers of the thread that asks. They are started when first needed, spin for a moment after
/// each piece of work, then sleep; they run until the process ends.
class CopyTeam {
  public:
    /// The process's team. Null where a team would be no quicker than the driver: on few cores.
    /// PYCUDA_COPY_THREADS sets the number of threads, the caller's included; 0 is no team.
    static CopyTeam *instance();
    /// True where PYCUDA_COPY_THREADS sets a number other than 0.
    static bool asked_for();

    class Job;

  private:
    explicit CopyTeam(unsigned helpers) : helpers_(helpers) {}
    void start_helpers();
    void help_forever() noexcept;
    bool take_chunk() noexcept;

    const unsigned helpers_;
    std::once_flag started_;
    std::mutex one_job_;

    // Chunks are numbered through all jobs, so that a number names one chunk of one job.
    std::atomic<std::uint64_t> next_{0};     ///< to be taken
    std::atomic<std::uint64_t> allowed_{0};  ///< chunks before this one may be taken
    std::atomic<std::uint64_t> finished_{0}; ///< how many are done
    std::atomic<int> calls_{0};              ///< wakes helpers that sleep
    const std::function<void(std::size_t)> *copy_ = nullptr; // of the job
    std::uint64_t first_ = 0;                                // chunk of the job
};

/// A number of chunks, each to be copied once by some thread, in rising order as they are allowed.
/// Another thread's job waits for the end of this one.
class [[nodiscard]] CopyTeam::Job {
  public:
    /// `copy` is called with the number of a chunk, from many threads; it must not throw.
    Job(CopyTeam &team, std::function<void(std::size_t)> copy);
    /// Waits for chunks that are being copied; those that nobody has taken are dropped.
    ~Job();
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;

    /// Lets the team copy the next `chunks`.
    void allow(std::size_t chunks);
    /// Copies a chunk in this thread, or, where none is left to take, pauses for a moment.
    void help();

  private:
    CopyTeam &team_;
    const std::unique_lock<std::mutex> alone_;
    const std::function<void(std::size_t)> copy_;
};

} // namespace pycuda::detail
