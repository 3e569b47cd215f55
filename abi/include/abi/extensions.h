// extensions.h -- what a driver library may export beyond NVIDIA's functions. All optional.
#pragma once

#include <abi/driver_types.h>

/// const char *scuImageKind(void): the form of device code that the driver takes, "ptx" or
/// "cubin". A library without it takes cubins.
using PFN_scuImageKind = const char *(*)();

/// CUresult scuCtxInterrupt(CUcontext): ends the kernels that run in a context as soon as they can
/// be ended; waits on them return. A library without it cannot end a running kernel.
using PFN_scuCtxInterrupt = CUresult (*)(CUcontext);
