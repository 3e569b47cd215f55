// vectors.cpp -- cuBLAS's level 1: operations on vectors.
#include "handle.h"

#include <cmath>
#include <limits>

namespace softcublas {
namespace {

using softlib::blas;

template <class T>
void copy(const Call &call, std::int64_t n, const T *x, std::int64_t incx, T *y,
          std::int64_t incy) {
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    if (n > 0)
        call.enqueue(operations(n), [=, size = narrow(n)] {
            blas<void, "?copy", T>(size, x, narrow(incx), y, narrow(incy));
        });
}

template <class T>
void swap(const Call &call, std::int64_t n, T *x, std::int64_t incx, T *y, std::int64_t incy) {
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    if (n > 0)
        call.enqueue(operations(n), [=, size = narrow(n)] {
            blas<void, "?swap", T>(size, x, narrow(incx), y, narrow(incy));
        });
}

template <class T>
void axpy(const Call &call, std::int64_t n, const T *alpha, const T *x, std::int64_t incx, T *y,
          std::int64_t incy) {
    const Scalar<T> factor(call, alpha, "alpha");
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    if (n > 0)
        call.enqueue(operations(n), [=, size = narrow(n)] {
            const T value = factor.get();
            blas<void, "?axpy", T>(size, softlib::scalar(value), x, narrow(incx), y, narrow(incy));
        });
}

/// Multiplies `n` complex numbers by a zero of type F. OpenBLAS 0.3.34 reads the number after the
/// last one here, and one NaN makes all results NaN.
template <class F, class T> void scale_by_zero(int n, T *x, std::int64_t step) {
    constexpr Real<T> zero{};
    for (int i = 0; i < n; ++i, x += step) {
        const Real<T> re = zero * x->real(), im = zero * x->imag();
        *x = is_complex<F> ? T(re - im, re + im) : T(re, im);
    }
}

/// F is T, or its real type.
template <class T, class F>
void scale(const Call &call, std::int64_t n, const F *alpha, T *x, std::int64_t incx) {
    const Scalar<F> factor(call, alpha, "alpha");
    if (n <= 0 || incx <= 0)
        return;
    call.check(x, extent(n, incx), "x");
    call.enqueue(operations(n), [=, size = narrow(n), step = narrow(incx)] {
        const T value(factor.get());
        if constexpr (is_complex<T>)
            if (value == T{})
                return scale_by_zero<F>(size, x, step);
        blas<void, "?scal", T>(size, softlib::scalar(value), x, step);
    });
}

enum class Conjugate { No, Yes };

template <class T>
void dot(const Call &call, std::int64_t n, const T *x, std::int64_t incx, const T *y,
         std::int64_t incy, T *result, Conjugate conjugate) {
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    const int size = narrow(n), stepx = narrow(incx), stepy = narrow(incy);
    give_result(call, operations(n), result, [=] {
        if constexpr (is_complex<T>) {
            T sum{};
            if (size > 0 && conjugate == Conjugate::Yes)
                blas<void, "?dotc_sub", T>(size, x, stepx, y, stepy, &sum);
            else if (size > 0)
                blas<void, "?dotu_sub", T>(size, x, stepx, y, stepy, &sum);
            return sum;
        } else {
            return size > 0 ? blas<T, "?dot", T>(size, x, stepx, y, stepy) : T{};
        }
    });
}

enum class Norm { Two, One };

template <class T> Real<T> norm_of(Norm norm, int n, const T *x, int step) {
    if constexpr (std::is_same_v<T, Complex>)
        return norm == Norm::Two ? blas<float, "scnrm2", T>(n, x, step)
                                 : blas<float, "scasum", T>(n, x, step);
    else if constexpr (std::is_same_v<T, DoubleComplex>)
        return norm == Norm::Two ? blas<double, "dznrm2", T>(n, x, step)
                                 : blas<double, "dzasum", T>(n, x, step);
    else
        return norm == Norm::Two ? blas<T, "?nrm2", T>(n, x, step)
                                 : blas<T, "?asum", T>(n, x, step);
}

template <class T>
void norm(const Call &call, std::int64_t n, const T *x, std::int64_t incx, Real<T> *result,
          Norm which) {
    if (n <= 0 || incx <= 0)
        return give_result(call, operations(n), result, [] { return Real<T>{}; });
    call.check(x, extent(n, incx), "x");
    give_result(call, operations(n), result, [=, size = narrow(n), step = narrow(incx)] {
        return norm_of(which, size, x, step);
    });
}

enum class End { Largest, Smallest };

/// The number, from 1, of the first element with the largest or smallest |re| + |im|.
template <class T, class I>
void index_of(const Call &call, std::int64_t n, const T *x, std::int64_t incx, I *result, End end) {
    if (n <= 0 || incx <= 0)
        return give_result(call, operations(n), result, [] { return I{0}; });
    call.check(x, extent(n, incx), "x");
    give_result(call, operations(n), result, [=] {
        const auto size_of = [](const T &value) {
            if constexpr (is_complex<T>)
                return std::abs(value.real()) + std::abs(value.imag());
            else
                return std::abs(value);
        };
        std::int64_t best = 0;
        Real<T> extreme = size_of(x[0]);
        for (std::int64_t i = 1; i < n; ++i) {
            const Real<T> size = size_of(x[i * incx]);
            if (end == End::Largest ? size > extreme : size < extreme) {
                extreme = size;
                best = i;
            }
        }
        return static_cast<I>(best + 1);
    });
}

/// S is T, or its real type; the cosine is real.
template <class T, class S>
void rotate(const Call &call, std::int64_t n, T *x, std::int64_t incx, T *y, std::int64_t incy,
            const Real<T> *cosine, const S *sine) {
    const Scalar<Real<T>> c(call, cosine, "c");
    const Scalar<S> s(call, sine, "s");
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    static_cast<void>(narrow(n));
    call.enqueue(operations(n), [=] {
        const Real<T> cos = c.get();
        const T sin(s.get());
        T conjugate = sin;
        if constexpr (is_complex<T>)
            conjugate = std::conj(sin);
        T *const first_x = incx < 0 ? x + (1 - n) * incx : x;
        T *const first_y = incy < 0 ? y + (1 - n) * incy : y;
        for (std::int64_t i = 0; i < n; ++i) {
            T &a = first_x[i * incx], &b = first_y[i * incy];
            const T old = a;
            a = cos * old + sin * b;
            b = cos * b - conjugate * old;
        }
    });
}

/// Runs `work` on scalars that are in the host's memory, or on the device's, in stream order.
template <class Work> void on_scalars(const Call &call, Work work) {
    if (call.scalars_on_device())
        call.enqueue(1, work);
    else
        work();
}

template <class T> void make_rotation(const Call &call, T *a, T *b, Real<T> *c, T *s) {
    require(a && b && c && s, "a, b, c, s");
    if (call.scalars_on_device()) {
        call.check(a, 1, "a");
        call.check(b, 1, "b");
        call.check(c, 1, "c");
        call.check(s, 1, "s");
    }
    on_scalars(call, [=] { blas<void, "?rotg", T>(a, b, c, s); });
}

template <class T>
void rotate_modified(const Call &call, std::int64_t n, T *x, std::int64_t incx, T *y,
                     std::int64_t incy, const T *param) {
    struct Parameters {
        T values[5];
    };
    const Scalar<Parameters> kept(call, reinterpret_cast<const Parameters *>(param), "param");
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    if (n > 0)
        call.enqueue(operations(n), [=, size = narrow(n)] {
            const Parameters parameters = kept.get();
            blas<void, "?rotm", T>(size, x, narrow(incx), y, narrow(incy),
                                   static_cast<const T *>(parameters.values));
        });
}

template <class T>
void make_modified(const Call &call, T *d1, T *d2, T *x1, const T *y1, T *param) {
    require(d1 && d2 && x1 && y1 && param, "d1, d2, x1, y1, param");
    if (call.scalars_on_device()) {
        call.check(d1, 1, "d1");
        call.check(d2, 1, "d2");
        call.check(x1, 1, "x1");
        call.check(y1, 1, "y1");
        call.check(param, 5, "param");
    }
    on_scalars(call, [=] {
        using Limits = std::numeric_limits<T>;
        // d1 and d2 are divided by a number that is not less than epsilon.
        const T numbers[] = {*d1 * *x1 * *x1, *d2 * *y1 * *y1, *d1 / Limits::epsilon(),
                             *d2 / Limits::epsilon()};
        if (std::ranges::all_of(numbers, [](T number) { return std::isfinite(number); }))
            return blas<void, "?rotmg", T>(d1, d2, x1, *y1, param);
        // BLAS scales d1 and d2 until they are small enough, which infinity never is.
        constexpr T nan = Limits::quiet_NaN();
        *d1 = *d2 = *x1 = nan;
        param[0] = -1; // a matrix with four elements
        std::fill_n(param + 1, 4, nan);
    });
}

} // namespace
} // namespace softcublas

#define FOR_ALL(S, R, T)                                                                           \
    CUBLAS_FORMS(cublas##S##copy_v2, (Handle handle, I n, const T *x, I incx, T *y, I incy),       \
                 copy<T>(call, n, x, incx, y, incy))                                               \
    CUBLAS_FORMS(cublas##S##swap_v2, (Handle handle, I n, T * x, I incx, T * y, I incy),           \
                 swap<T>(call, n, x, incx, y, incy))                                               \
    CUBLAS_FORMS(cublas##S##axpy_v2,                                                               \
                 (Handle handle, I n, const T *alpha, const T *x, I incx, T *y, I incy),           \
                 axpy<T>(call, n, alpha, x, incx, y, incy))                                        \
    CUBLAS_FORMS(cublas##S##scal_v2, (Handle handle, I n, const T *alpha, T *x, I incx),           \
                 scale<T>(call, n, alpha, x, incx))                                                \
    CUBLAS_FORMS(cublasI##R##amax_v2, (Handle handle, I n, const T *x, I incx, I *result),         \
                 index_of<T>(call, n, x, incx, result, End::Largest))                              \
    CUBLAS_FORMS(cublasI##R##amin_v2, (Handle handle, I n, const T *x, I incx, I *result),         \
                 index_of<T>(call, n, x, incx, result, End::Smallest))                             \
    CUBLAS_DEFINE(cublas##S##rotg_v2, (Handle handle, T * a, T * b, softlib::Real<T> * c, T * s),  \
                  softcublas::make_rotation<T>(call, a, b, c, s))
using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;
FOR_ALL(S, s, float)
FOR_ALL(D, d, double)
FOR_ALL(C, c, Complex)
FOR_ALL(Z, z, DoubleComplex)

#define NORMS(S, T)                                                                                \
    CUBLAS_FORMS(cublas##S##nrm2_v2, (Handle handle, I n, const T *x, I incx, Real<T> *result),    \
                 norm<T>(call, n, x, incx, result, Norm::Two))                                     \
    CUBLAS_FORMS(cublas##S##asum_v2, (Handle handle, I n, const T *x, I incx, Real<T> *result),    \
                 norm<T>(call, n, x, incx, result, Norm::One))
NORMS(S, float)
NORMS(D, double)
NORMS(Sc, Complex)
NORMS(Dz, DoubleComplex)

#define DOT(name, T, conjugate)                                                                    \
    CUBLAS_FORMS(cublas##name##_v2,                                                                \
                 (Handle handle, I n, const T *x, I incx, const T *y, I incy, T *result),          \
                 dot<T>(call, n, x, incx, y, incy, result, Conjugate::conjugate))
DOT(Sdot, float, No)
DOT(Ddot, double, No)
DOT(Cdotu, Complex, No)
DOT(Cdotc, Complex, Yes)
DOT(Zdotu, DoubleComplex, No)
DOT(Zdotc, DoubleComplex, Yes)

#define SCALE(name, T)                                                                             \
    CUBLAS_FORMS(cublas##name##_v2, (Handle handle, I n, const Real<T> *alpha, T *x, I incx),      \
                 scale<T>(call, n, alpha, x, incx))
SCALE(Csscal, Complex)
SCALE(Zdscal, DoubleComplex)

#define ROTATE(name, T, S)                                                                         \
    CUBLAS_FORMS(cublas##name##_v2,                                                                \
                 (Handle handle, I n, T * x, I incx, T * y, I incy, const Real<T> *c, const S *s), \
                 rotate<T>(call, n, x, incx, y, incy, c, s))
ROTATE(Srot, float, float)
ROTATE(Drot, double, double)
ROTATE(Crot, Complex, Complex)
ROTATE(Csrot, Complex, float)
ROTATE(Zrot, DoubleComplex, DoubleComplex)
ROTATE(Zdrot, DoubleComplex, double)

#define MODIFIED(S, T)                                                                             \
    CUBLAS_FORMS(cublas##S##rotm_v2,                                                               \
                 (Handle handle, I n, T * x, I incx, T * y, I incy, const T *param),               \
                 rotate_modified<T>(call, n, x, incx, y, incy, param))                             \
    CUBLAS_DEFINE(cublas##S##rotmg_v2,                                                             \
                  (Handle handle, T * d1, T * d2, T * x1, const T *y1, T *param),                  \
                  softcublas::make_modified<T>(call, d1, d2, x1, y1, param))
MODIFIED(S, float)
MODIFIED(D, double)
