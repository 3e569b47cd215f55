// numbers.cuh -- common functions of a real or complex type T and its real type R.
//
// Defined before this file: using T; using R.
#pragma once

#include <pycuda-complex.hpp>

[[maybe_unused]] constexpr bool is_complex = sizeof(T) != sizeof(R);

template <class X> __device__ R re(const X &x) { return real(x); }
template <class X> __device__ R im(const X &x) { return imag(x); }
template <class X> __device__ X conjugate(const X &x) { return conj(x); }
__device__ inline R re(const R &x) { return x; }
__device__ inline R im(const R &) { return 0; }
__device__ inline R conjugate(const R &x) { return x; }

/// A number of type X from its parts.
template <class X> struct Number {
    static __device__ X of(R x, R y) { return X(x, y); }
};
template <> struct Number<R> {
    static __device__ R of(R x, R) { return x; }
};

/// The square of the absolute value.
template <class X> __device__ R square(const X &x) { return re(x) * re(x) + im(x) * im(x); }
/// A value between the absolute value and sqrt(2) times the absolute value.
template <class X> __device__ R size_of(const X &x) { return fabs(re(x)) + fabs(im(x)); }
