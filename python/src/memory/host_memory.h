// host_memory.h -- host memory for Python that may be accessible to the device.
#pragma once

namespace pycuda::python {

/// Common base of pinned, aligned and registered memory.
struct HostPointer {
    enum class Reach { HostOnly, Device };
    Reach reach = Reach::Device; ///< whether kernels can use the address
};

} // namespace pycuda::python
