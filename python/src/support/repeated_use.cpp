// repeated_use.cpp -- the memory that work uses each time it is repeated.
#include "support/repeated_use.h"

#include "arrays/array_allocation.h"
#include "arrays/array_object.h"
#include "arrays/array_scope.h"
#include "memory/device_memory.h"
#include "memory/device_pointer.h"
#include "memory/texture.h"
#include "support/python_object.h"

#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>
#include <pycuda/tensor_map.h>

namespace pycuda::python {

void RepeatedUse::add(nb::handle operand) {
    if (const ArrayAllocation *of_array = find_array_allocation(operand))
        arrays_.push_back(of_array->memory());
    else if (const DeviceMemory * memory; nb::try_cast(operand, memory) && memory)
        memory_.push_back(memory);
    else if (const PooledMemory * pooled; nb::try_cast(operand, pooled) && pooled)
        pooled_.push_back(pooled);
    else if (is_array(operand) && array_of(operand).memory())
        arrays_.push_back(array_of(operand).memory());
    else if (const TensorMap * map; nb::try_cast(operand, map) && map)
        arrays_.push_back(map->tensor().memory());
    else if (nb::hasattr(operand, "__cuda_array_interface__"))
        foreign_.push_back(operand);
    else if (is_texture_or_surface(operand) || nb::isinstance<PointerHolder>(operand) ||
             nb::hasattr(operand, "gpudata"))
        holders_.push_back(operand);
}

bool RepeatedUse::empty() const noexcept {
    return arrays_.empty() && memory_.empty() && pooled_.empty() && foreign_.empty() &&
           holders_.empty();
}

void RepeatedUse::begin(Work &work) const {
    for (const DeviceMemory *memory : memory_)
        static_cast<void>(memory->get()); // throws if the memory was freed
    for (const PooledMemory *memory : pooled_)
        static_cast<void>(memory->get());
    for (const std::shared_ptr<ArrayMemory> &memory : arrays_)
        static_cast<void>(work.use(memory));
    for (const nb::handle array : foreign_)
        find_device_address(array, "a bound argument", work, Access::Read);
    for (const nb::handle holder : holders_)
        work.keep_until_done(keep_alive(nb::borrow(holder)));
}

} // namespace pycuda::python
