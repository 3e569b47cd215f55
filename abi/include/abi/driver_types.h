// driver_types.h -- NVIDIA's types of the driver API: cuda.h, and PFN_<name>_v<version>.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

// In a header of the toolkit that the nvidia-cuda-runtime wheel does not have.
using PFN_cuProfilerStart_v4000 = CUresult (*)();
using PFN_cuProfilerStop_v4000 = CUresult (*)();
using PFN_cuProfilerInitialize_v4000 = CUresult (*)(const char *, const char *, int);
