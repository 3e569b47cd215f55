// extensions.cpp -- cuBLAS's functions that BLAS does not have: sums and scaled copies of matrices,
// packed forms, triangular solutions of a batch.
#include "handle.h"

#include <string>
#include <vector>

namespace softcublas {
namespace {

using softlib::blas;

template <class T> T element(const T *a, int op, std::int64_t lda, std::int64_t i, std::int64_t j) {
    const T value = op == 0 ? a[i + j * lda] : a[j + i * lda];
    if constexpr (is_complex<T>)
        return op == 2 ? std::conj(value) : value;
    else
        return value;
}

/// C = alpha op(A) + beta op(B); C may be A or B if this one is not transposed.
template <class T>
void add(const Call &call, int op_a, int op_b, std::int64_t m, std::int64_t n, const T *alpha,
         const T *a, std::int64_t lda, const T *beta, const T *b, std::int64_t ldb, T *c,
         std::int64_t ldc) {
    require(op_a >= 0 && op_a <= 2 && op_b >= 0 && op_b <= 2 && m >= 0 && n >= 0,
            "operations, m, n");
    require(lda >= std::max<std::int64_t>(1, op_a == 0 ? m : n) &&
                ldb >= std::max<std::int64_t>(1, op_b == 0 ? m : n) &&
                ldc >= std::max<std::int64_t>(1, m),
            "lda, ldb, ldc");
    require((a != c || (op_a == 0 && lda == ldc)) && (b != c || (op_b == 0 && ldb == ldc)),
            "C in the place of a transposed matrix");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0)
        return;
    // A matrix with a factor of zero is not read.
    if (call.scalars_on_device() || first.get() != T{})
        call.check(a, op_a == 0 ? extent(m, n, lda) : extent(n, m, lda), "A");
    if (call.scalars_on_device() || second.get() != T{})
        call.check(b, op_b == 0 ? extent(m, n, ldb) : extent(n, m, ldb), "B");
    call.check(c, extent(m, n, ldc), "C");
    call.enqueue(operations(m, n), [=] {
        const T one = first.get(), two = second.get();
        constexpr std::int64_t tile = 32; // transposed reads stay in the cache
        for (std::int64_t j0 = 0; j0 < n; j0 += tile)
            for (std::int64_t i0 = 0; i0 < m; i0 += tile)
                for (std::int64_t j = j0; j < std::min(n, j0 + tile); ++j)
                    for (std::int64_t i = i0; i < std::min(m, i0 + tile); ++i) {
                        T sum{};
                        if (one != T{})
                            sum += one * element(a, op_a, lda, i, j);
                        if (two != T{})
                            sum += two * element(b, op_b, ldb, i, j);
                        c[i + j * ldc] = sum;
                    }
    });
}

/// C = A diag(x), or diag(x) A.
template <class T>
void scale_by_diagonal(const Call &call, int side, std::int64_t m, std::int64_t n, const T *a,
                       std::int64_t lda, const T *x, std::int64_t incx, T *c, std::int64_t ldc) {
    require((side == 0 || side == 1) && m >= 0 && n >= 0, "side, m, n");
    require(lda >= std::max<std::int64_t>(1, m) && ldc >= std::max<std::int64_t>(1, m), "lda, ldc");
    if (m == 0 || n == 0)
        return;
    const std::int64_t count = side == 0 ? m : n;
    call.check(a, extent(m, n, lda), "A");
    call.check(x, extent(count, incx), "x");
    call.check(c, extent(m, n, ldc), "C");
    call.enqueue(operations(m, n), [=] {
        const T *const first = incx < 0 ? x + (1 - count) * incx : x;
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i)
                c[i + j * ldc] = a[i + j * lda] * first[(side == 0 ? i : j) * incx];
    });
}

enum class Packing { Pack, Unpack };

template <class T>
void pack(const Call &call, int mode, std::int64_t n, T *packed, T *a, std::int64_t lda,
          Packing packing) {
    const int uplo = fill(mode);
    require(n >= 0 && lda >= std::max<std::int64_t>(1, n), "n, lda");
    call.check(packed, softlib::triangle(n), "AP");
    call.check(a, extent(n, n, lda), "A");
    call.enqueue(operations(n, n), [=] {
        T *next = packed;
        for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t first = uplo == softlib::lower ? j : 0;
            const std::int64_t count = uplo == softlib::lower ? n - j : j + 1;
            T *const column = a + first + j * lda;
            if (packing == Packing::Pack)
                std::copy_n(column, count, next);
            else
                std::copy_n(next, count, column);
            next += count;
        }
    });
}

template <class T>
void solve_batch(const Call &call, int side, int mode, int op, int diag, std::int64_t m,
                 std::int64_t n, const T *alpha, const T *const *a, std::int64_t lda, T *const *b,
                 std::int64_t ldb, std::int64_t count) {
    const int place = side_of(side), uplo = fill(mode), trans = operation<T>(op),
              kind = diagonal(diag);
    const std::int64_t order = side == 0 ? m : n;
    require(m >= 0 && n >= 0 && count >= 0, "m, n, the number of systems");
    require(lda >= std::max<std::int64_t>(1, order) && ldb >= std::max<std::int64_t>(1, m),
            "lda, ldb");
    const Scalar<T> factor(call, alpha, "alpha");
    if (m == 0 || n == 0 || count == 0)
        return;
    call.check(a, count, "the addresses of A");
    call.check(b, count, "the addresses of B");
    call.enqueue(operations(order, m, n, count), [=, rows = narrow(m), columns = narrow(n)] {
        const T value = factor.get();
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(order, order, lda), "A");
            check_batched(b[i], extent(m, n, ldb), "B");
            blas<void, "?trsm", T>(softlib::column_major, place, uplo, trans, kind, rows, columns,
                                   softlib::scalar(value), a[i], narrow(lda), b[i], narrow(ldb));
        }
    });
}

template <class T>
void multiply_vector(int trans, std::int64_t m, std::int64_t n, const T &alpha, const T *a,
                     std::int64_t lda, const T *x, std::int64_t incx, const T &beta, T *y,
                     std::int64_t incy) {
    blas<void, "?gemv", T>(softlib::column_major, trans, narrow(m), narrow(n),
                           softlib::scalar(alpha), a, narrow(lda), x, narrow(incx),
                           softlib::scalar(beta), y, narrow(incy));
}

void check_vectors(std::int64_t m, std::int64_t n, std::int64_t lda, std::int64_t incx,
                   std::int64_t incy, std::int64_t count) {
    require(m >= 0 && n >= 0 && count >= 0 && lda >= std::max<std::int64_t>(1, m) && incx != 0 &&
                incy != 0,
            "m, n, the number of products, lda, incx, incy");
}

template <class T>
void vectors_of_batch(const Call &call, int op, std::int64_t m, std::int64_t n, const T *alpha,
                      const T *const *a, std::int64_t lda, const T *const *x, std::int64_t incx,
                      const T *beta, T *const *y, std::int64_t incy, std::int64_t count) {
    const int trans = operation<T>(op);
    check_vectors(m, n, lda, incx, incy, count);
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0 || count == 0)
        return;
    call.check(a, count, "the addresses of A");
    call.check(x, count, "the addresses of x");
    call.check(y, count, "the addresses of y");
    call.enqueue(operations(m, n, count), [=] {
        const T one = first.get(), two = second.get();
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(m, n, lda), "A");
            check_batched(x[i], extent(op == 0 ? n : m, incx), "x");
            check_batched(y[i], extent(op == 0 ? m : n, incy), "y");
            multiply_vector(trans, m, n, one, a[i], lda, x[i], incx, two, y[i], incy);
        }
    });
}

template <class T>
void vectors_of_strides(const Call &call, int op, std::int64_t m, std::int64_t n, const T *alpha,
                        const T *a, std::int64_t lda, std::int64_t stride_a, const T *x,
                        std::int64_t incx, std::int64_t stride_x, const T *beta, T *y,
                        std::int64_t incy, std::int64_t stride_y, std::int64_t count) {
    const int trans = operation<T>(op);
    check_vectors(m, n, lda, incx, incy, count);
    require(stride_a >= 0 && stride_x >= 0 && stride_y >= 0, "the strides");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0 || count == 0)
        return;
    call.check(a, extent_of_batch(extent(m, n, lda), stride_a, count), "A");
    call.check(x, extent_of_batch(extent(op == 0 ? n : m, incx), stride_x, count), "x");
    call.check(y, extent_of_batch(extent(op == 0 ? m : n, incy), stride_y, count), "y");
    call.enqueue(operations(m, n, count), [=] {
        const T one = first.get(), two = second.get();
        for (std::int64_t i = 0; i < count; ++i)
            multiply_vector(trans, m, n, one, a + i * stride_a, lda, x + i * stride_x, incx, two,
                            y + i * stride_y, incy);
    });
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;

#define FOR_ALL(S, T)                                                                              \
    CUBLAS_FORMS(cublas##S##geam,                                                                  \
                 (Handle handle, int op_a, int op_b, I m, I n, const T *alpha, const T *a, I lda,  \
                  const T *beta, const T *b, I ldb, T *c, I ldc),                                  \
                 add<T>(call, op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc))              \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##dgmm,                                                                           \
        (Handle handle, int side, I m, I n, const T *a, I lda, const T *x, I incx, T *c, I ldc),   \
        scale_by_diagonal<T>(call, side, m, n, a, lda, x, incx, c, ldc))                           \
    CUBLAS_FORMS(cublas##S##trsmBatched,                                                           \
                 (Handle handle, int side, int mode, int op, int diag, I m, I n, const T *alpha,   \
                  const T *const *a, I lda, T *const *b, I ldb, I count),                          \
                 solve_batch<T>(call, side, mode, op, diag, m, n, alpha, a, lda, b, ldb, count))   \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##gemvBatched,                                                                    \
        (Handle handle, int op, I m, I n, const T *alpha, const T *const *a, I lda,                \
         const T *const *x, I incx, const T *beta, T *const *y, I incy, I count),                  \
        vectors_of_batch<T>(call, op, m, n, alpha, a, lda, x, incx, beta, y, incy, count))         \
    CUBLAS_FORMS(cublas##S##gemvStridedBatched,                                                    \
                 (Handle handle, int op, I m, I n, const T *alpha, const T *a, I lda,              \
                  long long stride_a, const T *x, I incx, long long stride_x, const T *beta, T *y, \
                  I incy, long long stride_y, I count),                                            \
                 vectors_of_strides<T>(call, op, m, n, alpha, a, lda, stride_a, x, incx, stride_x, \
                                       beta, y, incy, stride_y, count))                            \
    CUBLAS_DEFINE(cublas##S##tpttr,                                                                \
                  (Handle handle, int mode, int n, const T *packed, T *a, int lda),                \
                  softcublas::pack<T>(call, mode, n, const_cast<T *>(packed), a, lda,              \
                                      softcublas::Packing::Unpack))                                \
    CUBLAS_DEFINE(cublas##S##trttp,                                                                \
                  (Handle handle, int mode, int n, const T *a, int lda, T *packed),                \
                  softcublas::pack<T>(call, mode, n, packed, const_cast<T *>(a), lda,              \
                                      softcublas::Packing::Pack))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
