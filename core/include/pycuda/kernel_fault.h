// kernel_fault.h -- the record of a failed kernel, if the driver has one.
#pragma once

#include <abi/driver_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace pycuda {

/// The failure of a kernel. Unknown values are empty.
struct KernelFault {
    enum class Access { Unknown, Read, Write };
    /// The begin and the size, in bytes, of an allocation of device memory.
    struct Allocation {
        /// The first address.
        CUdeviceptr base;
        /// The size in bytes.
        std::size_t bytes;
    };

    std::string kernel;                            ///< the mangled name
    std::string file;                              ///< of the source, as passed to the compiler
    unsigned line = 0;                             ///< 0 if unknown
    std::array<unsigned, 3> block{};               ///< index in the grid
    std::optional<std::array<unsigned, 3>> thread; ///< index in the block; empty: unknown
    std::optional<CUdeviceptr> address;            ///< of the access; empty: unknown
    Access access = Access::Unknown;               ///< what the kernel did at the address
    std::optional<Allocation> allocation;          ///< nearest to the address
    std::string variable;                          ///< the array or pointer of the access
    std::optional<unsigned>
        parameter;       ///< the number of the kernel parameter that contains the pointer, from 0
    std::string message; ///< the complete message
};

/// The record of the last failed kernel, if it failed with `result`. Empty for a driver without
/// records, such as NVIDIA's. Any thread may call.
[[nodiscard]] std::optional<KernelFault> last_kernel_fault(CUresult result);

} // namespace pycuda
