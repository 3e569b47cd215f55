// device_memory.h -- the classes of device memory that have no counterpart in core.
#pragma once

#include "support/bindings.h"

#include <pycuda/memory.h>

namespace pycuda::python {

/// Base of Python classes with a device pointer; a subclass defines get_pointer(). The object keeps
/// its memory alive.
struct PointerHolder {};

/// What get_pointer() of such an object returns: an address, or an object that has one.
nb::object pointer_of(nb::handle holder);

/// Managed memory: in Python, a DeviceAllocation that the host can access too.
class ManagedAllocation : public DeviceMemory {
  public:
    ManagedAllocation(std::size_t bytes, unsigned attach);
    void *data() const { return reinterpret_cast<void *>(get()); }
    void attach(unsigned flags, StreamRef stream) const;
};

/// A memoryview of `size` bytes from `offset` on, of the `bytes` bytes at `address`. The view keeps
/// `owner`, which owns the memory. Throws ValueError if the range is too long.
nb::object host_view(nb::handle owner, CUdeviceptr address, std::size_t bytes, std::size_t size,
                     std::size_t offset);

} // namespace pycuda::python
