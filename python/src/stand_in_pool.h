// stand_in_pool.h -- device memory for In, Out and InOut, which come and go with every call.
#pragma once

#include <pycuda/memory_pool.h>

#include <optional>

namespace pycuda::python {

/// A pool for small stand-ins in the context that was used last. Use it with the GIL only.
class StandInPool {
  public:
    static StandInPool &instance();

    /// Larger arrays take so long to copy that allocating does not matter.
    static constexpr std::size_t most_bytes = std::size_t{1} << 20;

    /// In the current context; `bytes` is 1 to most_bytes.
    PooledMemory allocate(std::size_t bytes);
    /// Gives what waits back to the driver.
    void free_held();

  private:
    std::optional<MemoryPool> pool_;
};

} // namespace pycuda::python
