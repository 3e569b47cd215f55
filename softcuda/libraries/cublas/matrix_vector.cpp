// matrix_vector.cpp -- cuBLAS's level 2: operations on a matrix and vectors.
#include "handle.h"

namespace softcublas {
namespace {

using softlib::blas;
using softlib::column_major;
using softlib::scalar;

template <class T>
void general(const Call &call, int op, std::int64_t m, std::int64_t n, const T *alpha, const T *a,
             std::int64_t lda, const T *x, std::int64_t incx, const T *beta, T *y,
             std::int64_t incy) {
    const int trans = operation<T>(op);
    require(m >= 0 && n >= 0 && lda >= std::max<std::int64_t>(1, m) && incx != 0 && incy != 0,
            "m, n, lda, incx, incy");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(m, n, lda), "A");
    call.check(x, extent(op == 0 ? n : m, incx), "x");
    call.check(y, extent(op == 0 ? m : n, incy), "y");
    call.enqueue(operations(m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T one = first.get(), two = second.get();
        blas<void, "?gemv", T>(column_major, trans, rows, columns, scalar(one), a, narrow(lda), x,
                               narrow(incx), scalar(two), y, narrow(incy));
    });
}

template <class T>
void band(const Call &call, int op, std::int64_t m, std::int64_t n, std::int64_t kl,
          std::int64_t ku, const T *alpha, const T *a, std::int64_t lda, const T *x,
          std::int64_t incx, const T *beta, T *y, std::int64_t incy) {
    const int trans = operation<T>(op);
    require(m >= 0 && n >= 0 && kl >= 0 && ku >= 0 && lda >= (Count(kl) + ku + 1).get() &&
                incx != 0 && incy != 0,
            "m, n, kl, ku, lda, incx, incy");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(Count(kl) + ku + 1, n, lda), "A");
    call.check(x, extent(op == 0 ? n : m, incx), "x");
    call.check(y, extent(op == 0 ? m : n, incy), "y");
    call.enqueue(operations(m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T one = first.get(), two = second.get();
        blas<void, "?gbmv", T>(column_major, trans, rows, columns, narrow(kl), narrow(ku),
                               scalar(one), a, narrow(lda), x, narrow(incx), scalar(two), y,
                               narrow(incy));
    });
}

enum class Conjugate { No, Yes };

template <class T>
void rank_one(const Call &call, std::int64_t m, std::int64_t n, const T *alpha, const T *x,
              std::int64_t incx, const T *y, std::int64_t incy, T *a, std::int64_t lda,
              Conjugate conjugate) {
    require(m >= 0 && n >= 0 && lda >= std::max<std::int64_t>(1, m) && incx != 0 && incy != 0,
            "m, n, lda, incx, incy");
    const Scalar<T> factor(call, alpha, "alpha");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(m, n, lda), "A");
    call.check(x, extent(m, incx), "x");
    call.check(y, extent(n, incy), "y");
    call.enqueue(operations(m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T value = factor.get();
        const auto run = [&]<softlib::Name name>() {
            blas<void, name, T>(column_major, rows, columns, scalar(value), x, narrow(incx), y,
                                narrow(incy), a, narrow(lda));
        };
        if constexpr (!is_complex<T>)
            run.template operator()<"?ger">();
        else if (conjugate == Conjugate::Yes)
            run.template operator()<"?gerc">();
        else
            run.template operator()<"?geru">();
    });
}

/// The triangular functions ?trmv and ?trsv, of a full, a band or a packed matrix, which has
/// `stored` elements from the first to the last. The arguments after `n` are `middle`.
template <softlib::Name name, class T, class... Middle>
void triangular(const Call &call, int mode, int op, int diag, std::int64_t n, const T *a,
                Count stored, T *x, std::int64_t incx, Middle... middle) {
    const int uplo = fill(mode), trans = operation<T>(op), kind = diagonal(diag);
    require(n >= 0 && incx != 0, "n, incx");
    if (n == 0)
        return;
    call.check(a, stored, "A");
    call.check(x, extent(n, incx), "x");
    call.enqueue(operations(n, n), [=, size = narrow(n), step = narrow(incx)] {
        blas<void, name, T>(column_major, uplo, trans, kind, size, middle..., x, step);
    });
}

template <softlib::Name name, class T>
void triangular_full(const Call &call, int mode, int op, int diag, std::int64_t n, const T *a,
                     std::int64_t lda, T *x, std::int64_t incx) {
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    triangular<name>(call, mode, op, diag, n, a, extent(n, n, lda), x, incx, a, narrow(lda));
}

template <softlib::Name name, class T>
void triangular_band(const Call &call, int mode, int op, int diag, std::int64_t n, std::int64_t k,
                     const T *a, std::int64_t lda, T *x, std::int64_t incx) {
    require(k >= 0 && lda > k, "k, lda");
    triangular<name>(call, mode, op, diag, n, a, extent(Count(k) + 1, n, lda), x, incx, narrow(k),
                     a, narrow(lda));
}

template <softlib::Name name, class T>
void triangular_packed(const Call &call, int mode, int op, int diag, std::int64_t n, const T *a,
                       T *x, std::int64_t incx) {
    triangular<name>(call, mode, op, diag, n, a, softlib::triangle(n), x, incx, a);
}

/// y = alpha A x + beta y with a symmetric or Hermitian matrix; `middle` are the arguments between
/// alpha and x, and the band's width before alpha is in `width`.
template <class T, class Work>
void symmetric_product(const Call &call, std::int64_t n, const T *alpha, const T *a, Count stored,
                       const T *x, std::int64_t incx, const T *beta, T *y, std::int64_t incy,
                       Work work) {
    require(n >= 0 && incx != 0 && incy != 0, "n, incx, incy");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (n == 0)
        return;
    call.check(a, stored, "A");
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    call.enqueue(operations(n, n), [=] {
        const T one = first.get(), two = second.get();
        work(one, two);
    });
}

template <softlib::Name name, class T>
void symmetric_full(const Call &call, int mode, std::int64_t n, const T *alpha, const T *a,
                    std::int64_t lda, const T *x, std::int64_t incx, const T *beta, T *y,
                    std::int64_t incy) {
    const int uplo = fill(mode);
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    symmetric_product(call, n, alpha, a, extent(n, n, lda), x, incx, beta, y, incy,
                      [=, size = narrow(n)](const T &one, const T &two) {
                          blas<void, name, T>(column_major, uplo, size, scalar(one), a, narrow(lda),
                                              x, narrow(incx), scalar(two), y, narrow(incy));
                      });
}

template <softlib::Name name, class T>
void symmetric_band(const Call &call, int mode, std::int64_t n, std::int64_t k, const T *alpha,
                    const T *a, std::int64_t lda, const T *x, std::int64_t incx, const T *beta,
                    T *y, std::int64_t incy) {
    const int uplo = fill(mode);
    require(k >= 0 && lda > k, "k, lda");
    symmetric_product(call, n, alpha, a, extent(Count(k) + 1, n, lda), x, incx, beta, y, incy,
                      [=, size = narrow(n)](const T &one, const T &two) {
                          blas<void, name, T>(column_major, uplo, size, narrow(k), scalar(one), a,
                                              narrow(lda), x, narrow(incx), scalar(two), y,
                                              narrow(incy));
                      });
}

template <softlib::Name name, class T>
void symmetric_packed(const Call &call, int mode, std::int64_t n, const T *alpha, const T *a,
                      const T *x, std::int64_t incx, const T *beta, T *y, std::int64_t incy) {
    const int uplo = fill(mode);
    symmetric_product(call, n, alpha, a, softlib::triangle(n), x, incx, beta, y, incy,
                      [=, size = narrow(n)](const T &one, const T &two) {
                          blas<void, name, T>(column_major, uplo, size, scalar(one), a, x,
                                              narrow(incx), scalar(two), y, narrow(incy));
                      });
}

/// A += alpha x x^T, in which A is full (`lda` is its leading dimension) or packed (0).
template <class T, class F, class Work>
void rank_one_symmetric(const Call &call, std::int64_t n, const F *alpha, const T *x,
                        std::int64_t incx, T *a, std::int64_t lda, Work work) {
    require(n >= 0 && incx != 0, "n, incx");
    const Scalar<F> factor(call, alpha, "alpha");
    if (n == 0)
        return;
    call.check(x, extent(n, incx), "x");
    call.check(a, lda > 0 ? extent(n, n, lda) : softlib::triangle(n), "A");
    call.enqueue(operations(n, n), [=] { work(factor.get()); });
}

template <softlib::Name name, class T, class F>
void update_full(const Call &call, int mode, std::int64_t n, const F *alpha, const T *x,
                 std::int64_t incx, T *a, std::int64_t lda) {
    const int uplo = fill(mode);
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    rank_one_symmetric(call, n, alpha, x, incx, a, lda, [=, size = narrow(n)](F value) {
        blas<void, name, T>(column_major, uplo, size, scalar(value), x, narrow(incx), a,
                            narrow(lda));
    });
}

/// The complex symmetric update, which BLAS lacks; LAPACK has it.
template <class T>
void update_complex_symmetric(const Call &call, int mode, std::int64_t n, const T *alpha,
                              const T *x, std::int64_t incx, T *a, std::int64_t lda) {
    const char *const uplo = fill(mode) == softlib::lower ? "L" : "U";
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    rank_one_symmetric(
        call, n, alpha, x, incx, a, lda,
        [=, size = narrow(n), step = narrow(incx), leading = narrow(lda)](const T &value) {
            softlib::lapack<"?syr", T>(uplo, &size, &value, x, &step, a, &leading);
        });
}

template <softlib::Name name, class T, class F>
void update_packed(const Call &call, int mode, std::int64_t n, const F *alpha, const T *x,
                   std::int64_t incx, T *a) {
    const int uplo = fill(mode);
    rank_one_symmetric(call, n, alpha, x, incx, a, 0, [=, size = narrow(n)](F value) {
        blas<void, name, T>(column_major, uplo, size, scalar(value), x, narrow(incx), a);
    });
}

/// A += alpha x y^T + alpha y x^T. `trailing` is the leading dimension, or nothing if A is packed.
template <softlib::Name name, class T, class... Trailing>
void rank_two(const Call &call, int mode, std::int64_t n, const T *alpha, const T *x,
              std::int64_t incx, const T *y, std::int64_t incy, T *a, Count stored,
              Trailing... trailing) {
    const int uplo = fill(mode);
    require(n >= 0 && incx != 0 && incy != 0, "n, incx, incy");
    const Scalar<T> factor(call, alpha, "alpha");
    if (n == 0)
        return;
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    call.check(a, stored, "A");
    call.enqueue(operations(n, n), [=, size = narrow(n)] {
        const T value = factor.get();
        blas<void, name, T>(column_major, uplo, size, scalar(value), x, narrow(incx), y,
                            narrow(incy), a, trailing...);
    });
}

template <softlib::Name name, class T>
void rank_two_full(const Call &call, int mode, std::int64_t n, const T *alpha, const T *x,
                   std::int64_t incx, const T *y, std::int64_t incy, T *a, std::int64_t lda) {
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    rank_two<name>(call, mode, n, alpha, x, incx, y, incy, a, extent(n, n, lda), narrow(lda));
}

/// The complex symmetric forms, which BLAS lacks: both triangles' formulas, element by element.
template <class T>
void rank_two_complex_symmetric(const Call &call, int mode, std::int64_t n, const T *alpha,
                                const T *x, std::int64_t incx, const T *y, std::int64_t incy, T *a,
                                std::int64_t lda) {
    const int uplo = fill(mode);
    require(n >= 0 && incx != 0 && incy != 0 && lda >= std::max<std::int64_t>(1, n),
            "n, incx, incy, lda");
    const Scalar<T> factor(call, alpha, "alpha");
    call.check(x, extent(n, incx), "x");
    call.check(y, extent(n, incy), "y");
    call.check(a, extent(n, n, lda), "A");
    call.enqueue(operations(n, n), [=] {
        const T value = factor.get();
        const T *const xs = incx < 0 ? x + (1 - n) * incx : x;
        const T *const ys = incy < 0 ? y + (1 - n) * incy : y;
        for (std::int64_t j = 0; j < n; ++j) {
            const std::int64_t first = uplo == softlib::lower ? j : 0;
            const std::int64_t last = uplo == softlib::lower ? n : j + 1;
            for (std::int64_t i = first; i < last; ++i)
                a[i + j * lda] +=
                    value * (xs[i * incx] * ys[j * incy] + ys[i * incy] * xs[j * incx]);
        }
    });
}

template <class T>
void symmetric_complex(const Call &call, int mode, std::int64_t n, const T *alpha, const T *a,
                       std::int64_t lda, const T *x, std::int64_t incx, const T *beta, T *y,
                       std::int64_t incy) {
    const char *const uplo = fill(mode) == softlib::lower ? "L" : "U";
    require(lda >= std::max<std::int64_t>(1, n), "lda");
    symmetric_product(call, n, alpha, a, extent(n, n, lda), x, incx, beta, y, incy,
                      [=, size = narrow(n), leading = narrow(lda), stepx = narrow(incx),
                       stepy = narrow(incy)](const T &one, const T &two) {
                          softlib::lapack<"?symv", T>(uplo, &size, &one, a, &leading, x, &stepx,
                                                      &two, y, &stepy);
                      });
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;

#define FOR_ALL(S, T)                                                                              \
    CUBLAS_FORMS(cublas##S##gemv_v2,                                                               \
                 (Handle handle, int op, I m, I n, const T *alpha, const T *a, I lda, const T *x,  \
                  I incx, const T *beta, T *y, I incy),                                            \
                 general<T>(call, op, m, n, alpha, a, lda, x, incx, beta, y, incy))                \
    CUBLAS_FORMS(cublas##S##gbmv_v2,                                                               \
                 (Handle handle, int op, I m, I n, I kl, I ku, const T *alpha, const T *a, I lda,  \
                  const T *x, I incx, const T *beta, T *y, I incy),                                \
                 band<T>(call, op, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy))           \
    TRIANGULAR(S, T, mv)                                                                           \
    TRIANGULAR(S, T, sv)
#define TRIANGULAR(S, T, what)                                                                     \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##tr##what##_v2,                                                                  \
        (Handle handle, int mode, int op, int diag, I n, const T *a, I lda, T *x, I incx),         \
        triangular_full<"?tr" #what>(call, mode, op, diag, n, a, lda, x, incx))                    \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##tb##what##_v2,                                                                  \
        (Handle handle, int mode, int op, int diag, I n, I k, const T *a, I lda, T *x, I incx),    \
        triangular_band<"?tb" #what>(call, mode, op, diag, n, k, a, lda, x, incx))                 \
    CUBLAS_FORMS(cublas##S##tp##what##_v2,                                                         \
                 (Handle handle, int mode, int op, int diag, I n, const T *a, T *x, I incx),       \
                 triangular_packed<"?tp" #what>(call, mode, op, diag, n, a, x, incx))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)

#define RANK_ONE(name, T, conjugate)                                                               \
    CUBLAS_FORMS(cublas##name##_v2,                                                                \
                 (Handle handle, I m, I n, const T *alpha, const T *x, I incx, const T *y, I incy, \
                  T *a, I lda),                                                                    \
                 rank_one<T>(call, m, n, alpha, x, incx, y, incy, a, lda, Conjugate::conjugate))
RANK_ONE(Sger, float, No)
RANK_ONE(Dger, double, No)
RANK_ONE(Cgeru, Complex, No)
RANK_ONE(Cgerc, Complex, Yes)
RANK_ONE(Zgeru, DoubleComplex, No)
RANK_ONE(Zgerc, DoubleComplex, Yes)

#define PRODUCT(name, T, function)                                                                 \
    CUBLAS_FORMS(cublas##name##_v2,                                                                \
                 (Handle handle, int mode, I n, const T *alpha, const T *a, I lda, const T *x,     \
                  I incx, const T *beta, T *y, I incy),                                            \
                 function(call, mode, n, alpha, a, lda, x, incx, beta, y, incy))
PRODUCT(Ssymv, float, symmetric_full<"?symv">)
PRODUCT(Dsymv, double, symmetric_full<"?symv">)
PRODUCT(Csymv, Complex, symmetric_complex)
PRODUCT(Zsymv, DoubleComplex, symmetric_complex)
PRODUCT(Chemv, Complex, symmetric_full<"?hemv">)
PRODUCT(Zhemv, DoubleComplex, symmetric_full<"?hemv">)

#define BAND_AND_PACKED(S, T, start)                                                               \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##start##bmv_v2,                                                                  \
        (Handle handle, int mode, I n, I k, const T *alpha, const T *a, I lda, const T *x, I incx, \
         const T *beta, T *y, I incy),                                                             \
        symmetric_band<"?" #start "bmv">(call, mode, n, k, alpha, a, lda, x, incx, beta, y, incy)) \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##start##pmv_v2,                                                                  \
        (Handle handle, int mode, I n, const T *alpha, const T *a, const T *x, I incx,             \
         const T *beta, T *y, I incy),                                                             \
        symmetric_packed<"?" #start "pmv">(call, mode, n, alpha, a, x, incx, beta, y, incy))
BAND_AND_PACKED(S, float, s)
BAND_AND_PACKED(D, double, s)
BAND_AND_PACKED(C, Complex, h)
BAND_AND_PACKED(Z, DoubleComplex, h)

#define UPDATES(S, T, start, r)                                                                    \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##start##r##_v2,                                                                  \
        (Handle handle, int mode, I n, const Real<T> *alpha, const T *x, I incx, T *a, I lda),     \
        update_full<"?" #start #r>(call, mode, n, alpha, x, incx, a, lda))                         \
    CUBLAS_FORMS(cublas##S##start##r##2_v2,                                                        \
                 (Handle handle, int mode, I n, const T *alpha, const T *x, I incx, const T *y,    \
                  I incy, T *a, I lda),                                                            \
                 rank_two_full<"?" #start #r "2">(call, mode, n, alpha, x, incx, y, incy, a, lda))
#define PACKED_UPDATES(S, T, start)                                                                \
    CUBLAS_FORMS(cublas##S##start##pr_v2,                                                          \
                 (Handle handle, int mode, I n, const Real<T> *alpha, const T *x, I incx, T *a),   \
                 update_packed<"?" #start "pr">(call, mode, n, alpha, x, incx, a))                 \
    CUBLAS_FORMS(cublas##S##start##pr2_v2,                                                         \
                 (Handle handle, int mode, I n, const T *alpha, const T *x, I incx, const T *y,    \
                  I incy, T *a),                                                                   \
                 rank_two<"?" #start "pr2">(call, mode, n, alpha, x, incx, y, incy, a,             \
                                            std::int64_t{n} * (n + 1) / 2))
UPDATES(S, float, sy, r)
UPDATES(D, double, sy, r)
UPDATES(C, Complex, he, r)
UPDATES(Z, DoubleComplex, he, r)
PACKED_UPDATES(S, float, s)
PACKED_UPDATES(D, double, s)
PACKED_UPDATES(C, Complex, h)
PACKED_UPDATES(Z, DoubleComplex, h)

#define COMPLEX_UPDATES(S, T)                                                                      \
    CUBLAS_FORMS(cublas##S##syr_v2,                                                                \
                 (Handle handle, int mode, I n, const T *alpha, const T *x, I incx, T *a, I lda),  \
                 update_complex_symmetric(call, mode, n, alpha, x, incx, a, lda))                  \
    CUBLAS_FORMS(cublas##S##syr2_v2,                                                               \
                 (Handle handle, int mode, I n, const T *alpha, const T *x, I incx, const T *y,    \
                  I incy, T *a, I lda),                                                            \
                 rank_two_complex_symmetric(call, mode, n, alpha, x, incx, y, incy, a, lda))
COMPLEX_UPDATES(C, Complex)
COMPLEX_UPDATES(Z, DoubleComplex)
