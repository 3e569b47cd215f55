// kernel_fault.h -- what a kernel did when it failed, where the driver can tell.
#pragma once

#include <abi/driver_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pycuda {

/// A failure of a kernel. What is not known is empty.
struct KernelFault {
    enum class Access { Unknown, Read, Write };
    struct Allocation {
        CUdeviceptr base;
        std::size_t bytes;
    };

    std::string kernel; ///< its name for the linker
    std::string file;   ///< of the source, as the compiler was told
    unsigned line = 0;  ///< 0 where it is not known
    std::array<unsigned, 3> block{};
    std::optional<std::array<unsigned, 3>> thread;
    std::optional<CUdeviceptr> address;
    Access access = Access::Unknown;
    std::optional<Allocation> allocation; ///< nearest to the address
    std::string variable;                 ///< the array or pointer that was used
    std::optional<unsigned> parameter;    ///< the kernel's that the pointer is, counted from 0
    std::string message;                  ///< all of this in words
};

/// What the last kernel to fail did, if it failed with `result`. Nothing for a driver that does not
/// tell, NVIDIA's among them. Any thread may call.
[[nodiscard]] std::optional<KernelFault> last_kernel_fault(CUresult result);

} // namespace pycuda
