// segments.cuh -- reduces each segment of an array to one element.
//
// Defined before this file: using T, the type of the elements; JOIN, the name of one of the
// operators below.
#pragma once

#include <pycuda-complex.hpp>

// Associative operations. Templates, because not every type has every operator.
struct Add {
    template <class X> __device__ X operator()(X a, X b) const { return X(a + b); }
};
struct Multiply {
    template <class X> __device__ X operator()(X a, X b) const { return X(a * b); }
};
// minimum and maximum return NaN if an operand is NaN; fmin and fmax return the other operand.
struct Minimum {
    template <class X> __device__ X operator()(X a, X b) const {
        return X(a != a || a < b ? a : b);
    }
};
struct Maximum {
    template <class X> __device__ X operator()(X a, X b) const {
        return X(a != a || a > b ? a : b);
    }
};
struct Fmin {
    template <class X> __device__ X operator()(X a, X b) const {
        return X(b != b || a < b ? a : b);
    }
};
struct Fmax {
    template <class X> __device__ X operator()(X a, X b) const {
        return X(b != b || a > b ? a : b);
    }
};
struct BitwiseAnd {
    template <class X> __device__ X operator()(X a, X b) const { return X(a & b); }
};
struct BitwiseOr {
    template <class X> __device__ X operator()(X a, X b) const { return X(a | b); }
};
struct BitwiseXor {
    template <class X> __device__ X operator()(X a, X b) const { return X(a ^ b); }
};
struct LogicalAnd {
    template <class X> __device__ X operator()(X a, X b) const { return X(a && b); }
};
struct LogicalOr {
    template <class X> __device__ X operator()(X a, X b) const { return X(a || b); }
};

extern "C" __global__ void __launch_bounds__(256)
    join(const T *values, const long long *starts, const long long *lengths, T *out,
         long long count) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= count)
        return;
    const T *value = values + starts[i];
    T joined = value[0];
    for (long long k = 1; k < lengths[i]; ++k)
        joined = JOIN()(joined, value[k]);
    out[i] = joined;
}
