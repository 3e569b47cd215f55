// graph_checks.h -- the checks of a graph, and the waits that report those that failed.
//
// An operation that checks values reads a flag that its kernel sets, and throws. Recorded work does
// not run when the operation returns. So the graph owns the flag and the error:
//
//     capture    take_rows(...)        add() -> a flag for the kernel, FailedCheck("take(): ...")
//     launch     graph.launch(s)       the kernel finds an index out of bounds and sets the flag
//     wait       synchronize(s)        report() finds the flag, clears it, and throws the error
//
// Flags are words of the host's memory that kernels can write. A kernel writes a flag only for an
// error, so a launch without errors pays nothing, and a wait reads a few words.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/failed_check.h>
#include <pycuda/host_range.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace pycuda::detail {

/// The checks of one capture. The recorded graph, its clones and its executable graphs own them.
/// Any thread may call.
class GraphChecks {
  public:
    /// Of the graph that is being recorded in `stream`, a stream of the current context; null if
    /// there is none.
    static std::shared_ptr<GraphChecks> of(StreamRef stream);
    /// As of(), but null if nothing was added yet.
    static std::shared_ptr<GraphChecks> find(StreamRef stream);

    GraphChecks(std::uint64_t capture, Context context) noexcept
        : capture_(capture), context_(std::move(context)) {}
    /// Keeps an error that no wait has reported for the next wait in the context.
    ~GraphChecks();
    GraphChecks &operator=(GraphChecks &&) = delete; // no copies either

    /// The address of a flag for each failure, an int32 that is 0. A kernel of a launch that sets
    /// flag i makes the next wait for the launch throw failures[i].
    CUdeviceptr add(std::span<const FailedCheck> failures);

    /// Throws an error of an earlier launch. Call it before a launch of the graph.
    void report();
    /// Call it after a launch. Waits for this stream report the launch's errors.
    void launched(StreamRef stream);

  private:
    friend struct ChecksInUse;
    struct Check {
        std::int32_t *flag;
        FailedCheck failure;
    };
    /// Registered with the driver, not allocated by it: a wait may read the flags of a context that
    /// another thread ends.
    struct Block {
        std::unique_ptr<std::byte[]> memory;
        HostRange registered;
        CUdeviceptr address;
        std::size_t used;
    };

    /// Whether a wait for this stream, in this current context, covers a launch.
    bool is_covered_by(CUcontext context, StreamRef stream);
    std::unique_ptr<FailedCheck> take_failure();

    const std::uint64_t capture_; ///< the number of the capture
    const Context context_;
    CallerMutex mutex_;
    std::vector<Block> blocks_;
    std::deque<Check> checks_;
    std::vector<CUstream> streams_; ///< of launches by this library
    bool is_part_ = false;          ///< of another graph, which is launched in unknown streams
};

/// The number of GraphChecks, and of errors whose graph has ended.
inline std::atomic<int> checks_to_report{0};

void report_checks(StreamRef stream);

/// Throws FailedCheck if a check of a graph failed in a launch that a wait for `stream` has
/// covered. The default stream covers all streams of the current context. Call it after each wait.
/// Without graphs that have checks, costs a load.
inline void report_failed_checks(StreamRef stream) {
    if (checks_to_report.load(std::memory_order_relaxed) != 0) [[unlikely]]
        report_checks(stream);
}

} // namespace pycuda::detail
