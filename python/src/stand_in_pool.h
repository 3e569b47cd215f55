// stand_in_pool.h -- device memory for In, Out and InOut, which come and go with every call.
#pragma once

#include "bindings.h"

#include <pycuda/memory_pool.h>

#include <optional>
#include <vector>

namespace pycuda::python {

/// Pools for small stand-ins, and for page-locked memory that their copies go through, in the
/// context that was used last. Not to be used in a thread without Python.
class StandInPool {
  public:
    static StandInPool &instance();

    /// Larger arrays take so long to copy that allocating does not matter.
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    /// In the current context; `bytes` is 1 to most_bytes.
    PooledMemory allocate(std::size_t bytes);
    /// The same of page-locked host memory.
    PooledMemory allocate_pinned(std::size_t bytes);
    /// Never gives this memory out again: a copy that nobody waits for may still use it.
    void abandon(PooledMemory memory);
    /// Gives what waits back to the driver.
    void free_held();

  private:
    nb::ft_mutex mutex_; ///< of all that follows
    std::optional<MemoryPool> pool_;
    std::optional<MemoryPool> pinned_pool_;
    std::vector<PooledMemory> abandoned_;
};

} // namespace pycuda::python
