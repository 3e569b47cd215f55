// host_range.h -- a range of host memory that the driver was told of, until it is told to forget.
#pragma once

#include <pycuda/context.h>

#include <cuda.h>

#include <cstddef>
#include <utility>

namespace pycuda::detail {

/// What pinned and registered memory have in common. Keeps its context alive.
class HostRange {
  public:
    /// How such a range is given back.
    struct Kind {
        const char *function; ///< of the driver
        CUresult (*give_back)(void *data);
    };

    HostRange(const Kind &kind, void *data, std::size_t bytes, Context context) noexcept
        : kind_(&kind), data_(data), bytes_(bytes), context_(std::move(context)) {}
    HostRange(HostRange &&other) noexcept;
    HostRange &operator=(HostRange &&other) noexcept;
    ~HostRange();

    /// Null once it was given back.
    void *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return bytes_; }
    const Context &context() const noexcept { return context_; }
    CUdeviceptr device_pointer() const;

    /// Now. Throws where the driver refuses; does nothing where the context took it along.
    void give_back();

  private:
    void reset() noexcept;

    const Kind *kind_;
    void *data_;
    std::size_t bytes_;
    Context context_;
};

} // namespace pycuda::detail
