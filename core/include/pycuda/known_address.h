// known_address.h -- whether the driver knows memory that another library hands on.
#pragma once

#include <abi/driver_types.h>

#include <string>

namespace pycuda {

/// False where the address is none of this driver's: a program may hold arrays of NVIDIA's driver
/// while this library uses softcuda, and a kernel that touches one would end its context. Null is
/// known. Costs nothing but a call where the driver knows all that can come. Any thread may call.
[[nodiscard]] bool knows_address(CUdeviceptr address);

/// What to tell of an address that is not known: which driver does not know it, and what to do.
[[nodiscard]] std::string describe_unknown_address(CUdeviceptr address);

} // namespace pycuda
