// array_allocation.h -- pycuda.driver.ArrayMemory: the gpudata of arrays in the pool.
#pragma once

#include "support/bindings.h"

#include <pycuda/array_memory.h>
#include <pycuda/memory.h>

#include <memory>

namespace pycuda::python {

/// A DeviceAllocation in Python. It represents a block of the pool that arrays share. free()
/// returns the block to the pool, for all these arrays.
class ArrayAllocation : public DeviceMemory {
  public:
    explicit ArrayAllocation(std::shared_ptr<ArrayMemory> memory);

    const std::shared_ptr<ArrayMemory> &memory() const noexcept { return memory_; }
    // Arrays share the block, so the block itself knows whether it was freed, not the base class.
    CUdeviceptr get() const { return memory_->get(); }
    std::size_t size() const noexcept { return memory_->size(); }
    bool freed() const noexcept { return memory_->freed(); }
    void free() { memory_->free(); }

  private:
    std::shared_ptr<ArrayMemory> memory_;
};

/// The object in `slot`, which represents `memory`; created if there is none.
nb::object kept_allocation(PyObject *&slot, const std::shared_ptr<ArrayMemory> &memory);

/// Null if the object is not an ArrayAllocation.
const ArrayAllocation *find_array_allocation(nb::handle object);

/// pycuda.driver.mem_alloc. As the allocator of an array, it means the pool, as does None.
nb::object default_allocator();
bool is_default_allocator(nb::handle allocator);

void bind_array_allocation(nb::module_ &module);

} // namespace pycuda::python
