// scratch.h -- memory for intermediate results of one launch.
#pragma once

#include <pycuda/memory.h>
#include <pycuda/stream.h>

#include <cstddef>
#include <optional>

namespace pycuda {

/// Device memory for work that is queued in one stream in the scope of this object. It is allocated
/// and freed in the order of the stream, so the host does not wait.
class Scratch {
  public:
    /// 0 bytes are no memory.
    Scratch(std::size_t bytes, StreamRef stream);
    ~Scratch();
    Scratch(const Scratch &) = delete;
    Scratch &operator=(const Scratch &) = delete;

    CUdeviceptr get() const noexcept { return address_; }

  private:
    StreamRef stream_;
    CUdeviceptr address_ = 0;
    std::optional<DeviceMemory> plain_; // for drivers without stream-ordered allocation
};

} // namespace pycuda
