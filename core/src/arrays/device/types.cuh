// types.cuh -- types of elements, and conversions between them. The first part is in every kernel;
// the others begin with their names, and only kernels that use them contain them (device_code.cpp).
#pragma once

template <class T, int N> struct alignas(sizeof(T) * N) Pack {
    T v[N];
};
template <class To, class From> struct array_conversion {
    static __device__ __forceinline__ To of(From x) { return static_cast<To>(x); }
};
template <class From> struct array_conversion<bool, From> {
    static __device__ __forceinline__ bool of(From x) { return x != From(0); }
};
template <class T> struct array_conversion<T, T> {
    static __device__ __forceinline__ T of(T x) { return x; }
};
template <> struct array_conversion<bool, bool> {
    static __device__ __forceinline__ bool of(bool x) { return x; }
};
template <class To, class From> __device__ __forceinline__ To array_convert(From x) {
    return array_conversion<To, From>::of(x);
}
//: array_small_float
// The common part of array_half and array_bfloat16.
struct array_small_float {
    unsigned short bits;
    __device__ __forceinline__ bool is_nonzero() const { return (bits & 0x7fff) != 0; }
};
//: array_half
struct array_half : array_small_float {
    array_half() = default;
    __device__ __forceinline__ explicit array_half(float x) {
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    }
    __device__ __forceinline__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
};
template <> struct array_conversion<array_half, double> {
    static __device__ __forceinline__ array_half of(double x) {
        array_half h;
        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h.bits) : "d"(x));
        return h;
    }
};
template <> struct array_conversion<bool, array_half> {
    static __device__ __forceinline__ bool of(array_half x) { return x.is_nonzero(); }
};
//: array_bfloat16
struct array_bfloat16 : array_small_float {
    array_bfloat16() = default;
    __device__ __forceinline__ explicit array_bfloat16(float x) {
        unsigned b = __float_as_uint(x);
        bits = x != x ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
    }
    __device__ __forceinline__ operator float() const { return __uint_as_float(bits << 16); }
};
template <> struct array_conversion<bool, array_bfloat16> {
    static __device__ __forceinline__ bool of(array_bfloat16 x) { return x.is_nonzero(); }
};
