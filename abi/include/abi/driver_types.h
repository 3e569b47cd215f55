// driver_types.h -- NVIDIA's types of the driver API: cuda.h, and PFN_<name>_v<version>.
#pragma once

#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
