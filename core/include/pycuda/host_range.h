// host_range.h -- a range of host memory that is allocated by or registered with the driver.
#pragma once

#include <pycuda/context.h>

#include <cuda.h>

#include <cstddef>
#include <utility>

namespace pycuda::detail {

/// The common part of pinned and registered memory. Keeps its context alive.
class HostRange {
  public:
    /// How the range is released.
    struct Kind {
        const char *function; ///< the driver function, for messages
        CUresult (*give_back)(void *data);
    };

    HostRange(const Kind &kind, void *data, std::size_t bytes, Context context) noexcept
        : kind_(&kind), data_(data), bytes_(bytes), context_(std::move(context)) {}
    HostRange(HostRange &&other) noexcept;
    HostRange &operator=(HostRange &&other) noexcept;
    ~HostRange();

    /// Null after give_back().
    void *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return bytes_; }
    const Context &context() const noexcept { return context_; }
    CUdeviceptr device_pointer() const;

    /// Releases the range now. Throws if the driver reports an error. Does nothing if the range was
    /// released with its context.
    void give_back();

  private:
    void reset() noexcept;

    const Kind *kind_;
    void *data_;
    std::size_t bytes_;
    Context context_;
};

} // namespace pycuda::detail
