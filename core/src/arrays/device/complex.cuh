// complex.cuh -- complex numbers and their functions. Each function begins with its name; a kernel
// of complex numbers contains only those that it uses (device_code.cpp).
#pragma once

template <class T> struct array_complex {
    T re, im;
    array_complex() = default;
    __device__ __forceinline__ array_complex(T r, T i = 0) : re(r), im(i) {}
};
#define COMPLEX(name) template <class T> __device__ __forceinline__ array_complex<T> name
COMPLEX(operator+)(array_complex<T> a, array_complex<T> b) { return {a.re + b.re, a.im + b.im}; }
COMPLEX(operator-)(array_complex<T> a, array_complex<T> b) { return {a.re - b.re, a.im - b.im}; }
COMPLEX(operator-)(array_complex<T> a) { return {-a.re, -a.im}; }
COMPLEX(operator*)(array_complex<T> a, array_complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
COMPLEX(operator/)(array_complex<T> a, array_complex<T> b) {
    if (fabs(b.re) >= fabs(b.im)) {
        if (b.re == 0 && b.im == 0)
            return {a.re / fabs(b.re), a.im / fabs(b.re)};
        T ratio = b.im / b.re, scale = 1 / (b.re + b.im * ratio);
        return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    T ratio = b.re / b.im, scale = 1 / (b.im + b.re * ratio);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
}
template <class T>
__device__ __forceinline__ bool operator==(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re && a.im == b.im;
}
template <class T>
__device__ __forceinline__ bool operator!=(array_complex<T> a, array_complex<T> b) {
    return !(a == b);
}
template <class T>
__device__ __forceinline__ bool operator<(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re ? a.im < b.im : a.re < b.re && a.im == a.im && b.im == b.im;
}
template <class T>
__device__ __forceinline__ bool operator<=(array_complex<T> a, array_complex<T> b) {
    return a.re == b.re ? a.im <= b.im : a.re < b.re && a.im == a.im && b.im == b.im;
}
template <class To, class From> struct array_conversion<To, array_complex<From>> {
    static __device__ __forceinline__ To of(array_complex<From> x) {
        return array_convert<To>(x.re);
    }
};
template <class From> struct array_conversion<bool, array_complex<From>> {
    static __device__ __forceinline__ bool of(array_complex<From> x) {
        return x.re != 0 || x.im != 0;
    }
};
template <class To, class From> struct array_conversion<array_complex<To>, From> {
    static __device__ __forceinline__ array_complex<To> of(From x) {
        return {array_convert<To>(x), To(0)};
    }
};
template <class To, class From> struct array_conversion<array_complex<To>, array_complex<From>> {
    static __device__ __forceinline__ array_complex<To> of(array_complex<From> x) {
        return {To(x.re), To(x.im)};
    }
};
template <class T> struct array_conversion<array_complex<T>, array_complex<T>> {
    static __device__ __forceinline__ array_complex<T> of(array_complex<T> x) { return x; }
};
//: array_true
template <class T> __device__ __forceinline__ bool array_true(array_complex<T> x) {
    return x.re != 0 || x.im != 0;
}
//: array_nan
template <class T> __device__ __forceinline__ bool array_nan(array_complex<T> x) {
    return x.re != x.re || x.im != x.im;
}
//: array_infinite
template <class T> __device__ __forceinline__ bool array_infinite(array_complex<T> x) {
    return isinf(x.re) || isinf(x.im);
}
//: array_finite
FUNCTION bool array_finite(T x) { return x - x == 0; }
//: array_finite_parts
template <class T> __device__ __forceinline__ bool array_finite_parts(array_complex<T> x) {
    return x.re - x.re == 0 && x.im - x.im == 0;
}
//: array_abs
template <class T> __device__ __forceinline__ T array_abs(array_complex<T> x) {
    return hypot(x.re, x.im);
}
//: array_real
template <class T> __device__ __forceinline__ T array_real(array_complex<T> x) { return x.re; }
//: array_imag
template <class T> __device__ __forceinline__ T array_imag(array_complex<T> x) { return x.im; }
//: array_conjugate
COMPLEX(array_conjugate)(array_complex<T> x) { return {x.re, -x.im}; }
//: array_sign
COMPLEX(array_sign)(array_complex<T> x) {
    T size = array_abs(x);
    if (isinf(size) && array_finite_parts(x))
        x = {x.re / 4, x.im / 4}, size = array_abs(x);
    if (isinf(size)) { // one infinite part is the direction, two have none
        if (isinf(x.re) && isinf(x.im))
            return {T(0) / T(0), T(0) / T(0)};
        return {isinf(x.re) ? copysign(T(1), x.re) : T(0),
                isinf(x.im) ? copysign(T(1), x.im) : T(0)};
    }
    return size == 0 ? x : array_complex<T>(x.re / size, x.im / size);
}
//: array_reciprocal
COMPLEX(array_reciprocal)(array_complex<T> x) { return array_complex<T>(1) / x; }
//: array_scaled
COMPLEX(array_scaled)(array_complex<T> x, T factor) { return {x.re * factor, x.im * factor}; }
//: exp
COMPLEX(exp)(array_complex<T> x) {
    T size = exp(x.re);
    if (isinf(size) && x.im != 0 && array_finite_parts(x)) { // the product may be finite
        size = exp(x.re / 2);
        return {size * cos(x.im) * size, size * sin(x.im) * size};
    }
    if (x.im == 0)
        return {size, x.im};
    if (isinf(x.re) && !array_finite(x.im))
        return {size, x.re < 0 ? copysign(T(0), x.im) : x.im - x.im};
    return {size * cos(x.im), size * sin(x.im)};
}
//: array_range_scale
// A power of 4 by which to multiply numbers so that their squares neither overflow nor lose digits.
FUNCTION T array_range_scale(T re, T im) {
    const T a = fmax(fabs(re), fabs(im)), step = sizeof(T) == 4 ? T(0x1p60) : T(0x1p600);
    return a > step ? 1 / step : a < 1 / step ? step : T(1);
}
//: array_log_size
FUNCTION T array_log_size(T re, T im) {
    const T scale = array_range_scale(re, im);
    return log(hypot(re * scale, im * scale)) - log(scale);
}
//: array_far
// Whether 1 + 1 / x is 1, so that inverse functions are logarithms.
template <class T> __device__ __forceinline__ bool array_far(array_complex<T> x) {
    return fmax(fabs(x.re), fabs(x.im)) > (sizeof(T) == 4 ? T(1e9) : T(1e18));
}
//: log
COMPLEX(log)(array_complex<T> x) {
    const T size = hypot(x.re, x.im), angle = atan2(x.im, x.re);
    if (!(size > T(0.7) && size < T(1.4)))
        return {array_log_size(x.re, x.im), angle};
    // Near 1, for size * size - 1, whose terms cancel: includes the rounding errors of the
    // products.
    const T a = fmax(fabs(x.re), fabs(x.im)), b = fmin(fabs(x.re), fabs(x.im));
    const T high = (a - 1) * (a + 1), low = b * b;
    const T lost = fma(a - 1, a + 1, -high) + fma(b, b, -low);
    return {T(0.5) * log1p(high + low + lost), angle};
}
//: log2
COMPLEX(log2)(array_complex<T> x) { return array_scaled(log(x), T(1.442695040888963407)); }
//: log10
COMPLEX(log10)(array_complex<T> x) { return array_scaled(log(x), T(0.434294481903251828)); }
//: exp2
COMPLEX(exp2)(array_complex<T> x) { return exp(array_scaled(x, T(0.693147180559945309))); }
//: log1p
COMPLEX(log1p)(array_complex<T> x) {
    const T more = x.re * (x.re + 2) + x.im * x.im, angle = atan2(x.im, x.re + 1);
    return {fabs(more) < T(0.5) ? T(0.5) * log1p(more) : array_log_size(x.re + 1, x.im), angle};
}
//: expm1
COMPLEX(expm1)(array_complex<T> x) {
    T half = sin(x.im / 2), size = expm1(x.re);
    if (x.im == 0)
        return {size, x.im};
    if (isinf(x.re) && !array_finite(x.im))
        return {size, x.re < 0 ? T(0) : x.im - x.im};
    return {size * cos(x.im) - 2 * half * half, (size + 1) * sin(x.im)};
}
//: sqrt
COMPLEX(sqrt)(array_complex<T> x) {
    if (x.re == 0 && x.im == 0)
        return {T(0), x.im};
    if (isinf(x.im))
        return {fabs(x.im), x.im};
    const T scale = array_range_scale(x.re, x.im), back = 1 / sqrt(scale); // powers of 2
    x = {x.re * scale, x.im * scale};
    const T size = sqrt((fabs(x.re) + hypot(x.re, x.im)) / 2), other = x.im / (2 * size);
    return x.re >= 0 ? array_complex<T>(size * back, other * back)
                     : array_complex<T>(fabs(other * back), copysign(size * back, x.im));
}
//: array_power
COMPLEX(array_power)(array_complex<T> a, array_complex<T> b) {
    if (b.re == 0 && b.im == 0)
        return {T(1), T(0)};
    if (a.re == 0 && a.im == 0) {
        const T zero = b.re > 0 ? T(0) : T(0) / T(0);
        return {zero, zero};
    }
    if (b.im == 0 && (b.re == 1 || b.re == 2 || b.re == 3)) // a factor of 1 would make NaN of inf
        return b.re == 1 ? a : b.re == 2 ? a * a : a * (a * a);
    if (b.im == 0 && b.re == rint(b.re) && fabs(b.re) < 100) {
        array_complex<T> result(1), factor = a;
        for (int n = abs(int(b.re)); n > 0; n >>= 1, factor = factor * factor)
            if (n & 1)
                result = result * factor;
        return b.re < 0 ? array_complex<T>(1) / result : result;
    }
    return exp(b * log(a));
}
//: times_i
COMPLEX(times_i)(array_complex<T> x) { return {-x.im, x.re}; }
//: over_i
COMPLEX(over_i)(array_complex<T> x) { return {x.im, -x.re}; }
//: sinh
COMPLEX(sinh)(array_complex<T> x) {
    if (x.im == 0)
        return {sinh(x.re), x.im};
    if (!array_finite(x.im))
        return {x.re == 0 || isinf(x.re) ? x.re : x.im - x.im, x.im - x.im};
    if (array_finite(x.re) && isinf(cosh(x.re))) { // the products may be finite
        const T root = exp(fabs(x.re) / 2);
        return {copysign(root / 2, x.re) * cos(x.im) * root, root / 2 * sin(x.im) * root};
    }
    return {sinh(x.re) * cos(x.im), cosh(x.re) * sin(x.im)};
}
//: cosh
COMPLEX(cosh)(array_complex<T> x) {
    if (x.im == 0)
        return {cosh(x.re), x.im * copysign(T(1), x.re)};
    if (!array_finite(x.im))
        return {isinf(x.re) ? fabs(x.re) : x.im - x.im, x.re == 0 ? x.re : x.im - x.im};
    if (array_finite(x.re) && isinf(cosh(x.re))) { // the products may be finite
        const T root = exp(fabs(x.re) / 2);
        return {root / 2 * cos(x.im) * root, copysign(root / 2, x.re) * sin(x.im) * root};
    }
    return {cosh(x.re) * cos(x.im), sinh(x.re) * sin(x.im)};
}
//: tanh
COMPLEX(tanh)(array_complex<T> x) {
    if (x.im == 0)
        return {tanh(x.re), x.im};
    if (!array_finite(x.im))
        return isinf(x.re) ? array_complex<T>(copysign(T(1), x.re), copysign(T(0), x.im))
                           : array_complex<T>(x.re == 0 ? x.re : x.im - x.im, x.im - x.im);
    if (fabs(x.re) > T(20))
        return {copysign(T(1), x.re), T(4) * sin(x.im) * cos(x.im) * exp(-2 * fabs(x.re))};
    return sinh(x) / cosh(x);
}
//: sin
COMPLEX(sin)(array_complex<T> x) { return over_i(sinh(times_i(x))); }
//: cos
COMPLEX(cos)(array_complex<T> x) { return cosh(times_i(x)); }
//: tan
COMPLEX(tan)(array_complex<T> x) { return over_i(tanh(times_i(x))); }
//: asin
COMPLEX(asin)(array_complex<T> x) {
    if (!array_finite_parts(x)) // atan2() follows these of C's rules for infinities
        return {x.re == 0 ? x.re : atan2(x.re, fabs(x.im)),
                array_infinite(x) ? copysign(hypot(x.re, x.im), x.im) : x.re - x.im};
    if (array_far(x))
        return {atan2(x.re, fabs(x.im)),
                copysign(array_log_size(x.re, x.im) + T(0.693147180559945309), x.im)};
    array_complex<T> below = sqrt(array_complex<T>(1 - x.re, -x.im));
    array_complex<T> above = sqrt(array_complex<T>(1 + x.re, x.im));
    return {atan2(x.re, (below * above).re), asinh((array_conjugate(below) * above).im)};
}
//: acos
COMPLEX(acos)(array_complex<T> x) {
    if (!array_finite_parts(x))
        return {x.re == 0 ? T(1.57079632679489662) : atan2(fabs(x.im), x.re),
                array_infinite(x) ? copysign(hypot(x.re, x.im), -x.im) : x.re - x.im};
    if (array_far(x))
        return {atan2(fabs(x.im), x.re),
                copysign(array_log_size(x.re, x.im) + T(0.693147180559945309), -x.im)};
    array_complex<T> below = sqrt(array_complex<T>(1 - x.re, -x.im));
    array_complex<T> above = sqrt(array_complex<T>(1 + x.re, x.im));
    return {2 * atan2(below.re, above.re), asinh((array_conjugate(above) * below).im)};
}
//: asinh
COMPLEX(asinh)(array_complex<T> x) { return over_i(asin(times_i(x))); }
//: acosh
COMPLEX(acosh)(array_complex<T> x) {
    const array_complex<T> angle = acos(x);
    return {fabs(angle.im), copysign(angle.re, x.im)};
}
//: atanh
COMPLEX(atanh)(array_complex<T> x) {
    if (!array_finite_parts(x)) {
        const bool far = array_infinite(x), turned = far && x.im == x.im;
        return {x.re == 0 || far ? copysign(T(0), x.re) : x.re - x.im,
                turned ? copysign(T(1.57079632679489662), x.im) : x.re - x.im};
    }
    if (array_far(x)) { // the real part is that of 1 / x
        const T a = fmax(fabs(x.re), fabs(x.im)), b = fmin(fabs(x.re), fabs(x.im)) / a;
        return {x.re / a / (1 + b * b) / a, copysign(T(1.57079632679489662), x.im)};
    }
    const T size = fabs(x.re), y2 = x.im * x.im, below = 1 - size; // as if it were positive: exact
    const T twice = size == 1 && y2 < T(1e-20)                     // 4 / y2 may overflow
                        ? T(0.693147180559945309) - log(fabs(x.im))
                        : T(0.5) * log1p(4 * size / (below * below + y2));
    return {copysign(T(0.5) * twice, x.re), T(0.5) * atan2(2 * x.im, below * (1 + size) - y2)};
}
//: atan
COMPLEX(atan)(array_complex<T> x) { return over_i(atanh(times_i(x))); }
//: rint
COMPLEX(rint)(array_complex<T> x) { return {rint(x.re), rint(x.im)}; }
