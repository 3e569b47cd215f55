// known_address.h -- whether the driver knows memory that another library hands on.
#pragma once

#include <abi/driver_types.h>

#include <string>

namespace pycuda {

/// False if the address belongs to another driver: a program may have arrays of NVIDIA's driver
/// while this library uses softcuda, and a kernel that accesses such an array would make its
/// context unusable. True for null. Any thread may call.
[[nodiscard]] bool knows_address(CUdeviceptr address);

/// The error message for an unknown address: the driver that does not know it, and a remedy.
[[nodiscard]] std::string describe_unknown_address(CUdeviceptr address);

} // namespace pycuda
