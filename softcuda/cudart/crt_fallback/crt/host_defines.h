// host_defines.h -- the words in front of the runtime API's declarations, for a C++ compiler.
//
// NVIDIA's file of this name is part of nvcc's package and not of the runtime's. This one is found
// only where that one is missing.
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
