// error_flags.h -- page-locked flags that kernels set if they find an error.
#pragma once

#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/event.h>
#include <pycuda/host_range.h>
#include <pycuda/stream.h>
#include <pycuda/work.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace pycuda {

/// The error of an operation that was recorded: "take(): an index is out of bounds for axis 0 with
/// size 5 ...". `operation` names the operation if called_function() does not.
FailedCheck index_out_of_bounds(std::string_view operation, int axis, std::int64_t extent);

/// Flags in host memory that kernels write. A kernel accesses them only for an error, so a call
/// without errors needs neither a fill before the kernel nor a copy after it. Any thread may call.
class ErrorFlags {
  public:
    static constexpr std::size_t flags_of_call = 64;

    explicit ErrorFlags(Context context);

    /// The flags of one call, all 0, for kernels of one piece of work. If the work is captured, the
    /// graph owns the flags, and nothing waits: a launch that sets one throws an error later.
    class Call {
      public:
        /// `failures()` returns the errors of captured work, a FailedCheck for each flag.
        template <class Failures>
        Call(ErrorFlags &flags, Work &work, const Failures &failures)
            : flags_(flags), stream_(work.stream()) {
            if (work.is_captured()) [[unlikely]]
                recorded_ = work.add_check(failures());
            else
                take_place();
        }
        ~Call();
        Call &operator=(Call &&) = delete; // no copies either

        CUdeviceptr address() const noexcept;
        /// No later work of the stream sets flags: wait() does not wait for such work.
        void mark_last_use();
        /// Waits for the stream, or until the mark. Returns the number of the first flag of `count`
        /// that is set, or -1. Returns -1 at once if the work is captured.
        int wait(std::size_t count);

      private:
        void take_place();
        std::span<std::int32_t> values() const noexcept;

        ErrorFlags &flags_;
        StreamRef stream_;
        CUdeviceptr recorded_ = 0; ///< flags of a graph
        const Event *last_use_ = nullptr;
        std::size_t place_ = 0;
        bool is_complete_ = false;
    };

  private:
    static constexpr std::size_t calls_at_once = 64;

    Context context_;
    CallerMutex mutex_;
    std::vector<detail::HostRange> blocks_; ///< of calls_at_once calls each
    std::vector<CUdeviceptr> addresses_;    ///< of the blocks, for kernels
    std::vector<std::size_t> free_;
    std::map<std::size_t, Event> marks_; ///< of the calls that had one
};

} // namespace pycuda
