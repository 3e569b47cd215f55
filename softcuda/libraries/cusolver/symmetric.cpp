// symmetric.cpp -- factors L D L^T of symmetric and Hermitian indefinite matrices, their solutions
// and inverses: sytrf, sytrs, sytri.
#include "operations.h"

#include "../common/pivots.h"

namespace softcusolver {

template <class T, class Pivot>
void symmetric_factor(const Call &call, Form form, int mode, int n, T *a, int lda, Pivot *pivots,
                      int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    if (pivots == nullptr)
        throw Failure(statuses.not_supported, "a symmetric factorisation without pivots");
    call.check(pivots, n, "the pivots");
    call.check(info, 1, "info");
    call.enqueue(operations(n, n, n) / 3, [=] {
        std::vector<int> rows(static_cast<std::size_t>(n));
        with_workspace<T>([&](T *work, int *size) {
            if constexpr (is_complex<T>) {
                if (form == Form::Hermitian)
                    return lapack<"?hetrf", T>(uplo, &n, a, &lda, rows.data(), work, size, info);
            }
            lapack<"?sytrf", T>(uplo, &n, a, &lda, rows.data(), work, size, info);
        });
        std::copy(rows.begin(), rows.end(), pivots);
    });
}

template <class T, class Pivot>
void symmetric_solve(const Call &call, Form form, int mode, int n, int columns, const T *a, int lda,
                     const Pivot *pivots, T *b, int ldb, int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, columns, ldb, "B");
    if (pivots == nullptr)
        throw Failure(statuses.not_supported, "a symmetric solution without pivots");
    call.check(pivots, n, "the pivots");
    call.check(info, 1, "info");
    call.enqueue(operations(n, n, columns), [=] {
        softlib::check_block_pivots(pivots, n);
        const std::vector<int> rows(pivots, pivots + n);
        if constexpr (is_complex<T>) {
            if (form == Form::Hermitian)
                return lapack<"?hetrs", T>(uplo, &n, &columns, a, &lda, rows.data(), b, &ldb, info);
        }
        lapack<"?sytrs", T>(uplo, &n, &columns, a, &lda, rows.data(), b, &ldb, info);
    });
}

namespace {

template <class T>
void symmetric_invert(const Call &call, int mode, int n, T *a, int lda, const int *pivots,
                      int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(pivots, n, "the pivots");
    call.check(info, 1, "info");
    call.enqueue(operations(n, n, n), [=] {
        softlib::check_block_pivots(pivots, n);
        std::vector<T> work(static_cast<std::size_t>(std::max(1, 2 * n)));
        lapack<"?sytri", T>(uplo, &n, a, &lda, pivots, work.data(), info);
    });
}

} // namespace

#define INSTANTIATE(T)                                                                             \
    template void symmetric_factor(const Call &, Form, int, int, T *, int, std::int64_t *, int *); \
    template void symmetric_solve(const Call &, Form, int, int, int, const T *, int,               \
                                  const std::int64_t *, T *, int, int *);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::Form;
using softcusolver::give_size;
using softcusolver::Handle;

#define FOR_ALL(S, T)                                                                              \
    CUSOLVER_DEFINE(cusolverDn##S##sytrf_bufferSize, (Handle handle, int, T *, int, int *size),    \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##sytrf,                                                                      \
        (Handle handle, int mode, int n, T *a, int lda, int *pivots, T *, int, int *info),         \
        softcusolver::symmetric_factor<T>(call, Form::Symmetric, mode, n, a, lda, pivots, info))   \
    CUSOLVER_DEFINE(cusolverDn##S##sytri_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, const int *, int *size), give_size(size))  \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##sytri,                                                                      \
        (Handle handle, int mode, int n, T *a, int lda, const int *pivots, T *, int, int *info),   \
        softcusolver::symmetric_invert<T>(call, mode, n, a, lda, pivots, info))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
