// argument_pool.h -- pools of device memory for In, Out and InOut, which are allocated in each
// call.
#pragma once

#include "support/bindings.h"

#include <pycuda/memory_pool.h>

#include <optional>
#include <vector>

namespace pycuda::python {

/// Pools for small device arrays of handlers, and for the page-locked memory of their copies, in
/// the context that was used last. Use it only in threads of Python.
class ArgumentPool {
  public:
    static ArgumentPool &instance();

    /// Larger arrays take so long to copy that the time of an allocation does not matter.
    static constexpr std::size_t most_bytes = std::size_t{32} << 20;

    /// Allocates in the current context; `bytes` is 1 to most_bytes.
    PooledMemory allocate(std::size_t bytes);
    /// Allocates page-locked host memory.
    PooledMemory allocate_pinned(std::size_t bytes);
    /// Never reuses this memory, because a copy that was not waited for may still use it.
    void abandon(PooledMemory memory);
    /// Frees the pools' unused blocks.
    void free_held();

  private:
    nb::ft_mutex mutex_; ///< locks the members below
    std::optional<MemoryPool> pool_;
    std::optional<MemoryPool> pinned_pool_;
    std::vector<PooledMemory> abandoned_;
};

} // namespace pycuda::python
