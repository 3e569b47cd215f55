// pointer_table.h -- the addresses of the matrices of a stack, for batched functions.
#pragma once

#include "arrays/library_handles.h"

#include <pycuda/array.h>
#include <pycuda/copy.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pycuda {

/// The addresses of the matrices of a contiguous stack (count, rows, columns), in device memory,
/// for work that is queued in one stream in the scope of this object.
class PointerTable {
  public:
    PointerTable(const Array &stack, Work &use)
        : memory_(stack.context(),
                  static_cast<std::size_t>(stack.layout().extent(0)) * sizeof(CUdeviceptr),
                  use.stream()) {
        const std::int64_t count = stack.layout().extent(0), step = stack.layout().stride(0);
        const CUdeviceptr first = use.read(stack);
        auto addresses = std::make_shared<std::vector<CUdeviceptr>>();
        addresses->reserve(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i)
            addresses->push_back(first + static_cast<CUdeviceptr>(i * step));
        // The source is pageable memory, so the driver has read it when the call returns; a graph
        // reads it at each launch.
        copy_to_device_async(reinterpret_cast<CUdeviceptr>(memory_.get()), addresses->data(),
                             addresses->size() * sizeof(CUdeviceptr), use.stream());
        use.keep_in_graph(std::move(addresses));
    }

    void **get() const noexcept { return static_cast<void **>(memory_.get()); }

  private:
    Workspace memory_;
};

} // namespace pycuda
