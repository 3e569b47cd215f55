// driver_types.h -- NVIDIA's types of the driver API: cuda.h, and PFN_<name>_v<version>.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

// In a header that comes with the toolkit, but not with the nvidia-cuda-runtime wheel.
using PFN_cuProfilerStart_v4000 = CUresult (*)();
using PFN_cuProfilerStop_v4000 = CUresult (*)();
using PFN_cuProfilerInitialize_v4000 = CUresult (*)(const char *, const char *, int);
