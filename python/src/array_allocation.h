// array_allocation.h -- pycuda.driver.ArrayMemory: the gpudata of arrays in the pool.
#pragma once

#include "bindings.h"

#include <pycuda/array_memory.h>
#include <pycuda/memory.h>

#include <memory>

namespace pycuda::python {

/// A DeviceAllocation to Python: stands for a block of the pool that arrays share. free() gives the
/// block back to the pool, for all of them.
class ArrayAllocation : public DeviceMemory {
  public:
    explicit ArrayAllocation(std::shared_ptr<ArrayMemory> memory);

    const std::shared_ptr<ArrayMemory> &memory() const noexcept { return memory_; }
    // Arrays share the block: whether it was freed is the block's to say, not the base class's.
    CUdeviceptr get() const { return memory_->get(); }
    std::size_t size() const noexcept { return memory_->size(); }
    bool freed() const noexcept { return memory_->freed(); }
    void free() { memory_->free(); }

  private:
    std::shared_ptr<ArrayMemory> memory_;
};

/// The object in `slot`, which stands for `memory`; made where there is none yet.
nb::object kept_allocation(PyObject *&slot, const std::shared_ptr<ArrayMemory> &memory);

/// Null where the object is no ArrayAllocation.
const ArrayAllocation *find_array_allocation(nb::handle object);

/// pycuda.driver.mem_alloc. As an array's allocator it stands for the pool, as does None.
nb::object default_allocator();
bool is_default_allocator(nb::handle allocator);

void bind_array_allocation(nb::module_ &module);

} // namespace pycuda::python
