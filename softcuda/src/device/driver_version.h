// driver_version.h -- the version of CUDA that the driver reports.
#pragma once

#include <algorithm>

namespace softcuda::device {

/// The newest version of a function of driver.def: all functions of that CUDA are exported.
/// Programs compare the number with the versions of their compiler and of their CUDA runtime.
inline constexpr int kDriverVersion = std::max({
#define PYCUDA_FUNCTION(name, symbol, version) version,
#define PYCUDA_EXPORT(name, symbol, version) version,
#define PYCUDA_PER_THREAD(name, symbol, version) version,
#include "abi/driver.def"
});

} // namespace softcuda::device
