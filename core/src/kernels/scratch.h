// scratch.h -- memory for intermediate results of one launch.
#pragma once

#include <pycuda/memory.h>
#include <pycuda/stream.h>

#include <cstddef>
#include <optional>

namespace pycuda {

/// Memory of the device for the work that is put into one stream while this lives. It is taken and
/// given back in that stream's order, so that no one waits.
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
    std::optional<DeviceMemory> plain_; // where the driver has no memory in a stream's order
};

} // namespace pycuda
