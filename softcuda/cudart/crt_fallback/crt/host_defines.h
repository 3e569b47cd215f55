// host_defines.h -- the macros in the declarations of the runtime API, for a C++ compiler.
//
// NVIDIA's file with this name is part of the package of nvcc, not of the runtime. This file is
// only used if that file is missing.
#pragma once

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __annotate__(a)
#define __cudart_builtin__
#define __device__
#define __device_builtin__
#define __device_builtin_surface_type__
#define __device_builtin_texture_type__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __global__
#define __host__
#define __location__(a)
#define __no_return__ __attribute__((noreturn))
