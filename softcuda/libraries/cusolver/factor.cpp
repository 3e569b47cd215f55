// factor.cpp -- LU and Cholesky factorisations, their solutions and inverses.
#include "operations.h"
#include "spectral.h"

#include "../common/pivots.h"

namespace softcusolver {

template <class T, class Pivot>
void lu(const Call &call, int m, int n, T *a, int lda, Pivot *pivots, int *info) {
    call.matrix(a, m, n, lda, "A");
    if (pivots != nullptr)
        call.check(pivots, std::min(m, n), "the pivots");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(m, n, std::min(m, n)), [=] {
        if (pivots != nullptr) {
            std::vector<int> rows(static_cast<std::size_t>(std::min(m, n)));
            lapack<"?getrf", T>(&m, &n, a, &lda, rows.data(), info);
            std::copy(rows.begin(), rows.end(), pivots);
            return;
        }
        // Without row exchanges, for which LAPACK has no function.
        *info = 0;
        for (std::int64_t k = 0; k < std::min(m, n); ++k) {
            const T pivot = a[k + k * lda];
            if (pivot == T{} && *info == 0)
                *info = static_cast<int>(k) + 1;
            for (std::int64_t i = k + 1; i < m; ++i)
                a[i + k * lda] /= pivot;
            for (std::int64_t j = k + 1; j < n; ++j)
                for (std::int64_t i = k + 1; i < m; ++i)
                    a[i + j * lda] -= a[i + k * lda] * a[k + j * lda];
        }
    });
}

template <class T, class Pivot>
void lu_solve(const Call &call, int op, int n, int columns, const T *a, int lda,
              const Pivot *pivots, T *b, int ldb, int *info) {
    const char *const trans = operation<T>(op);
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, columns, ldb, "B");
    if (pivots != nullptr)
        call.check(pivots, n, "the pivots");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(n, n, columns), [=] {
        if (pivots != nullptr)
            softlib::check_pivots(pivots, n, Pivot{n});
        std::vector<int> rows(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            rows[static_cast<std::size_t>(i)] =
                pivots != nullptr ? static_cast<int>(pivots[i]) : i + 1;
        lapack<"?getrs", T>(trans, &n, &columns, a, &lda, rows.data(), b, &ldb, info);
    });
}

template <class T> void cholesky(const Call &call, int mode, int n, T *a, int lda, int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(n, n, n) / 3, [=] { *info = cholesky_factor(uplo, n, a, lda); });
}

template <class T>
void cholesky_solve(const Call &call, int mode, int n, int columns, const T *a, int lda, T *b,
                    int ldb, int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, columns, ldb, "B");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(n, n, columns),
                 [=] { lapack<"?potrs", T>(uplo, &n, &columns, a, &lda, b, &ldb, info); });
}

namespace {

template <class T>
void exchange_rows(const Call &call, int n, T *a, int lda, int k1, int k2, const int *pivots,
                   int incx) {
    require(n >= 0 && k1 >= 1 && k2 >= k1 && incx != 0 && lda >= k2, "n, k1, k2, incx, lda");
    call.check(a, extent(k2, n, lda), "A");
    const Count count = softlib::absolute(incx) * Count(k2 - k1) + k1;
    call.check(pivots, count, "the pivots");
    call.enqueue(operations(n, k2), [=] {
        int last = k2;
        for (std::int64_t i = k1 - 1; i < count.get(); i += std::abs(std::int64_t{incx}))
            last = std::max(last, pivots[i]);
        for (std::int64_t i = k1 - 1; i < count.get(); i += std::abs(std::int64_t{incx}))
            softlib::check_pivots(pivots + i, 1, lda);
        check_batched(a, extent(last, n, lda), "A with the rows of all pivots");
        lapack<"?laswp", T>(&n, a, &lda, &k1, &k2, pivots, &incx);
    });
}

/// ?potri and ?lauum: functions of a triangle in place.
template <Name name, class T>
void of_triangle(const Call &call, int mode, int n, T *a, int lda, int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(n, n, n), [=] { lapack<name, T>(uplo, &n, a, &lda, info); });
}

template <class T>
void cholesky_batch(const Call &call, int mode, int n, T *const *a, int lda, int *info, int count) {
    const char *const uplo = fill(mode);
    require(n >= 0 && lda >= std::max(1, n) && count >= 0, "n, lda, batch size");
    call.check(a, count, "the addresses of A");
    call.check(info, count, "info");
    call.enqueue(operations(n, n, n, count), [=] {
        for (int i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            info[i] = cholesky_factor(uplo, n, a[i], lda);
        }
    });
}

template <class T>
void cholesky_solve_batch(const Call &call, int mode, int n, int columns, T *const *a, int lda,
                          T *const *b, int ldb, int *info, int count) {
    const char *const uplo = fill(mode);
    require(n >= 0 && columns >= 0 && lda >= std::max(1, n) && ldb >= std::max(1, n) && count >= 0,
            "n, nrhs, lda, ldb, batch size");
    call.check(a, count, "the addresses of A");
    call.check(b, count, "the addresses of B");
    call.check(info, 1, "info");
    call.enqueue(operations(n, n, columns, count), [=] {
        for (int i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            check_batched(b[i], extent(n, columns, ldb), "B");
            lapack<"?potrs", T>(uplo, &n, &columns, a[i], &lda, b[i], &ldb, info);
        }
    });
}

} // namespace

#define INSTANTIATE(T)                                                                             \
    template void lu(const Call &, int, int, T *, int, std::int64_t *, int *);                     \
    template void lu_solve(const Call &, int, int, int, const T *, int, const std::int64_t *, T *, \
                           int, int *);                                                            \
    template void cholesky(const Call &, int, int, T *, int, int *);                               \
    template void cholesky_solve(const Call &, int, int, int, const T *, int, T *, int, int *);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;

#define FOR_ALL(S, T)                                                                              \
    CUSOLVER_DEFINE(cusolverDn##S##getrf_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, int *size), give_size(size))               \
    CUSOLVER_DEFINE(cusolverDn##S##getrf,                                                          \
                    (Handle handle, int m, int n, T *a, int lda, T *, int *pivots, int *info),     \
                    softcusolver::lu<T>(call, m, n, a, lda, pivots, info))                         \
    CUSOLVER_DEFINE(cusolverDn##S##getrs,                                                          \
                    (Handle handle, int op, int n, int columns, const T *a, int lda,               \
                     const int *pivots, T *b, int ldb, int *info),                                 \
                    softcusolver::lu_solve<T>(call, op, n, columns, a, lda, pivots, b, ldb, info)) \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##laswp,                                                                      \
        (Handle handle, int n, T *a, int lda, int k1, int k2, const int *pivots, int incx),        \
        softcusolver::exchange_rows<T>(call, n, a, lda, k1, k2, pivots, incx))                     \
    CUSOLVER_DEFINE(cusolverDn##S##potrf_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, int *size), give_size(size))               \
    CUSOLVER_DEFINE(cusolverDn##S##potrf,                                                          \
                    (Handle handle, int mode, int n, T *a, int lda, T *, int, int *info),          \
                    softcusolver::cholesky<T>(call, mode, n, a, lda, info))                        \
    CUSOLVER_DEFINE(cusolverDn##S##potrs,                                                          \
                    (Handle handle, int mode, int n, int columns, const T *a, int lda, T *b,       \
                     int ldb, int *info),                                                          \
                    softcusolver::cholesky_solve<T>(call, mode, n, columns, a, lda, b, ldb, info)) \
    CUSOLVER_DEFINE(cusolverDn##S##potri_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, int *size), give_size(size))               \
    CUSOLVER_DEFINE(cusolverDn##S##potri,                                                          \
                    (Handle handle, int mode, int n, T *a, int lda, T *, int, int *info),          \
                    (softcusolver::of_triangle<"?potri", T>(call, mode, n, a, lda, info)))         \
    CUSOLVER_DEFINE(cusolverDn##S##lauum_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, int *size), give_size(size))               \
    CUSOLVER_DEFINE(cusolverDn##S##lauum,                                                          \
                    (Handle handle, int mode, int n, T *a, int lda, T *, int, int *info),          \
                    (softcusolver::of_triangle<"?lauum", T>(call, mode, n, a, lda, info)))         \
    CUSOLVER_DEFINE(cusolverDn##S##potrfBatched,                                                   \
                    (Handle handle, int mode, int n, T *const *a, int lda, int *info, int count),  \
                    softcusolver::cholesky_batch<T>(call, mode, n, a, lda, info, count))           \
    CUSOLVER_DEFINE(cusolverDn##S##potrsBatched,                                                   \
                    (Handle handle, int mode, int n, int columns, T *const *a, int lda,            \
                     T *const *b, int ldb, int *info, int count),                                  \
                    softcusolver::cholesky_solve_batch<T>(call, mode, n, columns, a, lda, b, ldb,  \
                                                          info, count))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
