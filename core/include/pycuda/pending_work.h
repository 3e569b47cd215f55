// pending_work.h -- what waits know about kernels without a call of the driver.
#pragma once

#include <atomic>

namespace pycuda::detail {

/// True from a launch until a wait has seen the default stream idle. If it is false, a copy need
/// not ask the driver whether the copy will wait. Kernels of other libraries do not set it: a copy
/// that waits for one of those cannot be interrupted.
inline std::atomic<bool> kernels_may_run{true};

/// True from the first loaded module whose kernels may print, or may fail in an assert. A GPU's
/// driver shows the output in its own waits and at launches, not in queries.
inline std::atomic<bool> kernels_may_print{false};

/// Call it at each launch. Costs a load: the line of memory stays shared by all threads.
inline void note_launch() noexcept {
    if (!kernels_may_run.load(std::memory_order_relaxed))
        kernels_may_run.store(true, std::memory_order_relaxed);
}

} // namespace pycuda::detail
