// error_flags.h -- page-locked flags that kernels set if they find an error.
#pragma once

#include <pycuda/context.h>
#include <pycuda/event.h>
#include <pycuda/host_range.h>
#include <pycuda/stream.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace pycuda {

class Work;

/// Flags in host memory that kernels write. A kernel accesses them only for an error, so a call
/// without errors needs neither a fill before the kernel nor a copy after it. Any thread may call.
class ErrorFlags {
  public:
    static constexpr std::size_t flags_of_call = 64;

    explicit ErrorFlags(Context context);

    /// The flags of one call, all 0, for kernels of one piece of work. Throws Error if the work is
    /// captured, because the call waits.
    class Call {
      public:
        Call(ErrorFlags &flags, const Work &work);
        ~Call();
        Call(const Call &) = delete;
        Call &operator=(const Call &) = delete;

        CUdeviceptr address() const noexcept;
        /// No later work of the stream sets flags: wait() does not wait for such work.
        void mark_last_use();
        /// Waits for the stream, or until the mark. Returns the number of the first flag of `count`
        /// that is set, or -1.
        int wait(std::size_t count);

      private:
        std::span<std::int32_t> values() const noexcept;

        ErrorFlags &flags_;
        StreamRef stream_;
        const Event *last_use_ = nullptr;
        std::size_t place_;
        bool is_complete_ = false;
    };

  private:
    static constexpr std::size_t calls_at_once = 64;

    Context context_;
    std::mutex mutex_;
    std::vector<detail::HostRange> blocks_; ///< of calls_at_once calls each
    std::vector<CUdeviceptr> addresses_;    ///< of the blocks, for kernels
    std::vector<std::size_t> free_;
    std::map<std::size_t, Event> marks_; ///< of the calls that had one
};

} // namespace pycuda
