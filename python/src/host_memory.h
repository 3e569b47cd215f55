// host_memory.h -- host memory that the device may know of, as Python sees it.
#pragma once

namespace pycuda::python {

/// Common base of pinned, aligned and registered memory.
struct HostPointer {
    enum class Reach { HostOnly, Device };
    Reach reach = Reach::Device; ///< whether kernels can use the address
};

} // namespace pycuda::python
