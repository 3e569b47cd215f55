// matrix_matrix.cpp -- cuBLAS's level 3, but for products of general matrices (gemm.cpp).
#include "handle.h"

#include <vector>

namespace softcublas {
namespace {

using softlib::blas;
using softlib::column_major;
using softlib::scalar;

void require_leading(std::int64_t leading, std::int64_t rows, const char *what) {
    require(leading >= std::max<std::int64_t>(1, rows), what);
}

/// ?symm and ?hemm.
template <softlib::Name name, class T>
void symmetric(const Call &call, int side, int mode, std::int64_t m, std::int64_t n, const T *alpha,
               const T *a, std::int64_t lda, const T *b, std::int64_t ldb, const T *beta, T *c,
               std::int64_t ldc) {
    const int place = side_of(side), uplo = fill(mode);
    const std::int64_t order = side == 0 ? m : n;
    require(m >= 0 && n >= 0, "m, n");
    require_leading(lda, order, "lda");
    require_leading(ldb, m, "ldb");
    require_leading(ldc, m, "ldc");
    const Scalar<T> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(order, order, lda), "A");
    call.check(b, extent(m, n, ldb), "B");
    call.check(c, extent(m, n, ldc), "C");
    call.enqueue(operations(order, m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T one = first.get(), two = second.get();
        blas<void, name, T>(column_major, place, uplo, rows, columns, scalar(one), a, narrow(lda),
                            b, narrow(ldb), scalar(two), c, narrow(ldc));
    });
}

/// ?syrk and ?herk. F is T, or its real type.
template <softlib::Name name, class T, class F>
void rank_k(const Call &call, int mode, int op, std::int64_t n, std::int64_t k, const F *alpha,
            const T *a, std::int64_t lda, const F *beta, T *c, std::int64_t ldc) {
    const int uplo = fill(mode), trans = operation<T>(op);
    // Complex: a symmetric update is not conjugated, a Hermitian one is.
    require(!is_complex<T> || op == 0 || op == (std::is_same_v<F, T> ? 1 : 2), "operation");
    require(n >= 0 && k >= 0, "n, k");
    require_leading(lda, op == 0 ? n : k, "lda");
    require_leading(ldc, n, "ldc");
    const Scalar<F> first(call, alpha, "alpha"), second(call, beta, "beta");
    if (n == 0)
        return;
    call.check(a, op == 0 ? extent(n, k, lda) : extent(k, n, lda), "A");
    call.check(c, extent(n, n, ldc), "C");
    call.enqueue(operations(n, n, k), [=, order = narrow(n), depth = narrow(k)] {
        const F one = first.get(), two = second.get();
        blas<void, name, T>(column_major, uplo, trans, order, depth, scalar(one), a, narrow(lda),
                            scalar(two), c, narrow(ldc));
    });
}

/// ?syr2k and ?her2k. F is the type of beta.
template <softlib::Name name, class T, class F>
void rank_2k(const Call &call, int mode, int op, std::int64_t n, std::int64_t k, const T *alpha,
             const T *a, std::int64_t lda, const T *b, std::int64_t ldb, const F *beta, T *c,
             std::int64_t ldc) {
    const int uplo = fill(mode), trans = operation<T>(op);
    require(!is_complex<T> || op == 0 || op == (std::is_same_v<F, T> ? 1 : 2), "operation");
    require(n >= 0 && k >= 0, "n, k");
    require_leading(lda, op == 0 ? n : k, "lda");
    require_leading(ldb, op == 0 ? n : k, "ldb");
    require_leading(ldc, n, "ldc");
    const Scalar<T> first(call, alpha, "alpha");
    const Scalar<F> second(call, beta, "beta");
    if (n == 0)
        return;
    call.check(a, op == 0 ? extent(n, k, lda) : extent(k, n, lda), "A");
    call.check(b, op == 0 ? extent(n, k, ldb) : extent(k, n, ldb), "B");
    call.check(c, extent(n, n, ldc), "C");
    call.enqueue(operations(n, n, k), [=, order = narrow(n), depth = narrow(k)] {
        const T one = first.get();
        const F two = second.get();
        blas<void, name, T>(column_major, uplo, trans, order, depth, scalar(one), a, narrow(lda), b,
                            narrow(ldb), scalar(two), c, narrow(ldc));
    });
}

enum class Conjugate { No, Yes };

/// ?syrkx and ?herkx: one triangle of alpha op(A) op(B)^T + beta C, by blocks of columns.
template <class T, class F>
void rank_kx(const Call &call, int mode, int op, std::int64_t n, std::int64_t k, const T *alpha,
             const T *a, std::int64_t lda, const T *b, std::int64_t ldb, const F *beta, T *c,
             std::int64_t ldc, Conjugate conjugate) {
    const int uplo = fill(mode);
    require(op >= 0 && op <= 2 && n >= 0 && k >= 0, "operation, n, k");
    require_leading(lda, op == 0 ? n : k, "lda");
    require_leading(ldb, op == 0 ? n : k, "ldb");
    require_leading(ldc, n, "ldc");
    const Scalar<T> first(call, alpha, "alpha");
    const Scalar<F> second(call, beta, "beta");
    call.check(a, op == 0 ? extent(n, k, lda) : extent(k, n, lda), "A");
    call.check(b, op == 0 ? extent(n, k, ldb) : extent(k, n, ldb), "B");
    call.check(c, extent(n, n, ldc), "C");
    const int other = conjugate == Conjugate::Yes && is_complex<T> ? softlib::conjugate_transpose
                                                                   : softlib::transpose;
    call.enqueue(operations(n, n, k), [=, depth = narrow(k), leading_a = narrow(lda),
                                       leading_b = narrow(ldb)] {
        const T one = first.get(), two(second.get()), zero{};
        constexpr std::int64_t width = 64;
        std::vector<T> block(static_cast<std::size_t>(n * std::min(n, width)));
        for (std::int64_t j = 0; j < n; j += width) {
            const std::int64_t columns = std::min(width, n - j);
            const T *const part = op == 0 ? b + j : b + j * ldb;
            blas<void, "?gemm", T>(column_major, op == 0 ? softlib::no_transpose : other,
                                   op == 0 ? other : softlib::no_transpose, narrow(n),
                                   narrow(columns), depth, scalar(one), a, leading_a, part,
                                   leading_b, scalar(zero), block.data(), narrow(n));
            for (std::int64_t column = 0; column < columns; ++column) {
                const std::int64_t d = j + column;
                const std::int64_t begin = uplo == softlib::lower ? d : 0;
                const std::int64_t end = uplo == softlib::lower ? n : d + 1;
                for (std::int64_t i = begin; i < end; ++i) {
                    T &to = c[i + d * ldc];
                    const T sum = block[static_cast<std::size_t>(i + column * n)];
                    to = two == zero ? sum : sum + two * to;
                }
            }
        }
    });
}

template <class T>
void solve(const Call &call, int side, int mode, int op, int diag, std::int64_t m, std::int64_t n,
           const T *alpha, const T *a, std::int64_t lda, T *b, std::int64_t ldb) {
    const int place = side_of(side), uplo = fill(mode), trans = operation<T>(op),
              kind = diagonal(diag);
    const std::int64_t order = side == 0 ? m : n;
    require(m >= 0 && n >= 0, "m, n");
    require_leading(lda, order, "lda");
    require_leading(ldb, m, "ldb");
    const Scalar<T> factor(call, alpha, "alpha");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(order, order, lda), "A");
    call.check(b, extent(m, n, ldb), "B");
    call.enqueue(operations(order, m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T value = factor.get();
        blas<void, "?trsm", T>(column_major, place, uplo, trans, kind, rows, columns, scalar(value),
                               a, narrow(lda), b, narrow(ldb));
    });
}

/// C = alpha op(A) B; BLAS computes it in place. C may be B.
template <class T>
void multiply(const Call &call, int side, int mode, int op, int diag, std::int64_t m,
              std::int64_t n, const T *alpha, const T *a, std::int64_t lda, const T *b,
              std::int64_t ldb, T *c, std::int64_t ldc) {
    const int place = side_of(side), uplo = fill(mode), trans = operation<T>(op),
              kind = diagonal(diag);
    const std::int64_t order = side == 0 ? m : n;
    require(m >= 0 && n >= 0, "m, n");
    require(b != c || ldb == ldc || m == 0 || n == 0, "ldb"); // empty matrices may both be null
    require_leading(lda, order, "lda");
    require_leading(ldb, m, "ldb");
    require_leading(ldc, m, "ldc");
    const Scalar<T> factor(call, alpha, "alpha");
    if (m == 0 || n == 0)
        return;
    call.check(a, extent(order, order, lda), "A");
    call.check(b, extent(m, n, ldb), "B");
    call.check(c, extent(m, n, ldc), "C");
    call.enqueue(operations(order, m, n), [=, rows = narrow(m), columns = narrow(n)] {
        const T value = factor.get();
        if (b != c)
            for (std::int64_t j = 0; j < n; ++j)
                std::copy_n(b + j * ldb, m, c + j * ldc);
        blas<void, "?trmm", T>(column_major, place, uplo, trans, kind, rows, columns, scalar(value),
                               a, narrow(lda), c, narrow(ldc));
    });
}

/// Throws Failure unless both types are CUDA_C_32F. A may also be CUDA_C_8I, which is not
/// supported.
void require_complex(int type_a, int type_c) {
    require((type_a == 4 || type_a == 7) && type_c == 4, "Atype, Ctype");
    if (type_a != 4)
        throw Failure(statuses.not_supported, "complex numbers of int8 are not supported");
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;

#define SYMMETRIC(S, T, start)                                                                     \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##start##mm_v2,                                                                   \
        (Handle handle, int side, int mode, I m, I n, const T *alpha, const T *a, I lda,           \
         const T *b, I ldb, const T *beta, T *c, I ldc),                                           \
        symmetric<"?" #start "mm">(call, side, mode, m, n, alpha, a, lda, b, ldb, beta, c, ldc))
#define RANK_K(S, T, F, start)                                                                     \
    CUBLAS_FORMS(cublas##S##start##rk_v2,                                                          \
                 (Handle handle, int mode, int op, I n, I k, const F *alpha, const T *a, I lda,    \
                  const F *beta, T *c, I ldc),                                                     \
                 rank_k<"?" #start "rk">(call, mode, op, n, k, alpha, a, lda, beta, c, ldc))       \
    CUBLAS_FORMS(                                                                                  \
        cublas##S##start##r2k_v2,                                                                  \
        (Handle handle, int mode, int op, I n, I k, const T *alpha, const T *a, I lda, const T *b, \
         I ldb, const F *beta, T *c, I ldc),                                                       \
        rank_2k<"?" #start "r2k">(call, mode, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
#define RANK_KX(name, T, F, conjugate)                                                             \
    CUBLAS_FORMS(                                                                                  \
        cublas##name,                                                                              \
        (Handle handle, int mode, int op, I n, I k, const T *alpha, const T *a, I lda, const T *b, \
         I ldb, const F *beta, T *c, I ldc),                                                       \
        rank_kx(call, mode, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc, Conjugate::conjugate))
#define FOR_ALL(S, T)                                                                              \
    SYMMETRIC(S, T, sy)                                                                            \
    RANK_K(S, T, T, sy)                                                                            \
    RANK_KX(S##syrkx, T, T, No)                                                                    \
    CUBLAS_FORMS(cublas##S##trsm_v2,                                                               \
                 (Handle handle, int side, int mode, int op, int diag, I m, I n, const T *alpha,   \
                  const T *a, I lda, T *b, I ldb),                                                 \
                 solve<T>(call, side, mode, op, diag, m, n, alpha, a, lda, b, ldb))                \
    CUBLAS_FORMS(cublas##S##trmm_v2,                                                               \
                 (Handle handle, int side, int mode, int op, int diag, I m, I n, const T *alpha,   \
                  const T *a, I lda, const T *b, I ldb, T *c, I ldc),                              \
                 multiply<T>(call, side, mode, op, diag, m, n, alpha, a, lda, b, ldb, c, ldc))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
SYMMETRIC(C, Complex, he)
SYMMETRIC(Z, DoubleComplex, he)
RANK_K(C, Complex, float, he)
RANK_K(Z, DoubleComplex, double, he)
RANK_KX(Cherkx, Complex, float, Yes)
RANK_KX(Zherkx, DoubleComplex, double, Yes)

// The forms with element types, which are those of Complex, and with fewer multiplications.
#define RANK_K_EX(name, F, start)                                                                  \
    CUBLAS_FORMS(cublas##name,                                                                     \
                 (Handle handle, int mode, int op, I n, I k, const F *alpha, const void *a,        \
                  int type_a, I lda, const F *beta, void *c, int type_c, I ldc),                   \
                 softcublas::require_complex(type_a, type_c);                                      \
                 rank_k<"?" #start "rk">(call, mode, op, n, k, alpha,                              \
                                         static_cast<const Complex *>(a), lda, beta,               \
                                         static_cast<Complex *>(c), ldc))
RANK_K_EX(CsyrkEx, Complex, sy)
RANK_K_EX(Csyrk3mEx, Complex, sy)
RANK_K_EX(CherkEx, float, he)
RANK_K_EX(Cherk3mEx, float, he)
