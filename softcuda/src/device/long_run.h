// long_run.h -- tells the user once that a kernel does not end.
//
// Nothing else explains to a beginner why a program with an endless loop in a kernel stands still.
// A thread looks every few seconds at the kernels that run. A kernel that three looks in turn have
// found is named on stderr, and the thread ends: one message for each process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace softcuda::device {

/// The run of one kernel. Costs a few nanoseconds; no thread ever waits for another one's launch.
class LongRun {
  public:
    LongRun() = default;
    LongRun(const LongRun &) = delete;
    LongRun &operator=(const LongRun &) = delete;
    ~LongRun() { end(); }

    /// The kernel begins to run. `kernel` must exist until end().
    void begin(const std::string &kernel) noexcept;
    /// The kernel has ended. May be called without begin(), and again.
    void end() noexcept;

    struct Slot;

  private:
    Slot *slot_ = nullptr; ///< null if it is not observed
};

} // namespace softcuda::device
