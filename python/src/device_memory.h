// device_memory.h -- the classes of device memory that have no counterpart in core.
#pragma once

#include <pycuda/memory.h>

namespace pycuda::python {

/// Managed memory: in Python it is a DeviceAllocation that the host reaches too.
class ManagedAllocation : public DeviceMemory {
  public:
    ManagedAllocation(std::size_t bytes, unsigned attach);
    void *data() const { return reinterpret_cast<void *>(get()); }
    void attach(unsigned flags, StreamRef stream) const;
};

} // namespace pycuda::python
