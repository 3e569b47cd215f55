// language.h -- the names that a random program uses, as CUDA C++ and as C++ on the host.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
typedef double f64;

#ifdef __CUDACC__

#define DEVICE static __device__
#define NOINLINE static __device__ __noinline__
#define INLINE static __device__ __forceinline__
#define METHOD __device__
#define KERNEL extern "C" __global__ void
#define CONSTANT static __constant__
#define TABLE static __device__
#define SHARED(type, name, count) __shared__ type name[count]
#define DYNAMIC_SHARED(type, name) extern __shared__ type name[]
#define SPIN()

DEVICE u32 laneid() {
    u32 lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

#define PTX2(name, instruction)                                                                    \
    DEVICE u32 name(u32 a, u32 b) {                                                                \
        u32 r;                                                                                     \
        asm(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                                \
        return r;                                                                                  \
    }
PTX2(ptx_add_u16x2, "add.u16x2")
PTX2(ptx_add_s16x2, "add.s16x2")
PTX2(ptx_min_u16x2, "min.u16x2")
PTX2(ptx_min_s16x2, "min.s16x2")
PTX2(ptx_max_u16x2, "max.u16x2")
PTX2(ptx_max_s16x2, "max.s16x2")
PTX2(half2_add, "add.rn.f16x2")
PTX2(half2_sub, "sub.rn.f16x2")
PTX2(half2_mul, "mul.rn.f16x2")
PTX2(half2_min, "min.f16x2")
PTX2(half2_max, "max.f16x2")
PTX2(ptx_shl, "shl.b32")
PTX2(ptx_shr_u, "shr.u32")
PTX2(ptx_shr_s, "shr.s32")
PTX2(ptx_mul24_lo, "mul24.lo.u32")
PTX2(ptx_mul24_hi, "mul24.hi.s32")
PTX2(ptx_bmsk_clamp, "bmsk.clamp.b32")
PTX2(ptx_bmsk_wrap, "bmsk.wrap.b32")
PTX2(ptx_szext_clamp, "szext.clamp.s32")

#define PTX3(name, instruction)                                                                    \
    DEVICE u32 name(u32 a, u32 b, u32 c) {                                                         \
        u32 r;                                                                                     \
        asm(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                    \
        return r;                                                                                  \
    }
PTX3(ptx_bfe_u32, "bfe.u32")
PTX3(ptx_bfe_s32, "bfe.s32")
PTX3(ptx_prmt_f4e, "prmt.b32.f4e")
PTX3(ptx_prmt_ecl, "prmt.b32.ecl")
PTX3(ptx_prmt_rc8, "prmt.b32.rc8")
PTX3(ptx_shf_l_clamp, "shf.l.clamp.b32")
PTX3(ptx_shf_r_wrap, "shf.r.wrap.b32")
PTX3(ptx_dp2a_lo, "dp2a.lo.u32.s32")
PTX3(ptx_mad24_lo, "mad24.lo.s32")

DEVICE u32 ptx_bfi(u32 a, u32 b, u32 c, u32 d) {
    u32 r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "r"(d));
    return r;
}
DEVICE u64 ptx_add_with_carry(u64 a, u64 b) {
    u32 low, high;
    asm("{add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;}"
        : "=r"(low), "=r"(high)
        : "r"((u32)a), "r"((u32)(a >> 32)), "r"((u32)b), "r"((u32)(b >> 32)));
    return (u64)high << 32 | low;
}
DEVICE u32 ptx_add_u16(u16 a, u16 b) {
    u16 r;
    asm("add.u16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return r;
}
DEVICE u32 ptx_mad_wide_u16(u16 a, u16 b, u32 c) {
    u32 r;
    asm("mad.wide.u16 %0, %1, %2, %3;" : "=r"(r) : "h"(a), "h"(b), "r"(c));
    return r;
}
DEVICE u32 ptx_min_s16(i16 a, i16 b) {
    i16 r;
    asm("min.s16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));
    return (u32)(i32)r;
}

DEVICE u32 bits_of(f32 x) { return x != x ? 0x7fc00000u : __float_as_uint(x); }
DEVICE u64 bits_of(f64 x) { return x != x ? 0x7ff8000000000000ull : (u64)__double_as_longlong(x); }
DEVICE void named_barrier(u32 id, u32 count) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
DEVICE void block_barrier() { asm volatile("barrier.sync 0;" ::: "memory"); }
DEVICE u32 load_acquire(u32 *p) {
    u32 r;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(r) : "l"(p) : "memory");
    return r;
}
DEVICE void store_release(u32 *p, u32 v) {
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}

#else
#include "host_language.h"
#endif

#define ENVIRONMENT                                                                                \
    const u32 *in, const u32 *const *rows, i32 n0, i32 n1, i32 minus, u32 u0, i64 l0, u64 w0
#define ENVIRONMENT_NAMES in, rows, n0, n1, minus, u0, l0, w0

NOINLINE void barrier_in_function() { __syncthreads(); }

// Values that are equal in the two languages.
DEVICE u32 to_u32(f32 x) { return x >= 0.0f && x < 4.0e9f ? (u32)x : 7u; }
DEVICE i32 to_i32(f32 x) { return x > -2.0e9f && x < 2.0e9f ? (i32)x : -3; }
DEVICE u64 to_u64(f64 x) { return x >= 0.0 && x < 1.0e18 ? (u64)x : 9u; }

struct Pair {
    u8 a;
    i16 b;
    u32 c;
    METHOD u32 sum() const { return (u32)a + (u32)(i32)b * 3u + c; }
    METHOD void turn(u32 by) {
        c = c * 5u + by;
        b = (i16)(b ^ (i16)by);
        a = (u8)(a + (by >> 3));
    }
};
union Word {
    u32 word;
    u16 half[2];
    u8 byte[4];
};

template <class T> INLINE void fill_shared(T *array, i32 count, i32 t, i32 threads) {
    for (i32 i = t; i < count; i += threads)
        array[i] = (T)(i * 7 + 1);
}
