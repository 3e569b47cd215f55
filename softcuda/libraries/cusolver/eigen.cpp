// eigen.cpp -- eigenvalues of symmetric and Hermitian matrices: syevd, syevj, sygvd.
//
// The Jacobi forms (syevj) have the results of syevd: LAPACK has no Jacobi method for them.
#include "operations.h"
#include "spectral.h"

namespace softcusolver {

template <class T>
void eigenvalues(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values,
                 int *info, Jacobi jacobi) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(values, n, "W");
    call.check(info, 1, "devInfo");
    const bool jacobi_form = jacobi != nullptr;
    auto residual = jacobi_form ? jacobi->residual : nullptr;
    call.enqueue(operations(4, n, n, n), [=] {
        std::vector<T> kept;
        if (residual && jobz != 0)
            kept = packed(n, n, a, lda);
        *info = eigen<T>(job, uplo, n, a, lda, values);
        if (jacobi_form && *info > 0)
            *info = n + 1; // the sweeps have not converged
        if (residual)
            *residual = jobz != 0 && *info == 0
                            ? eigen_residual<T>(uplo, n, kept, packed(n, n, a, lda), values)
                            : 0.0;
    });
}

template <class T>
void eigenvalues_batch(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values,
                       int *info, int count) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    require(n >= 0 && lda >= std::max(1, n) && count >= 0, "n, lda, batch size");
    call.check(a, extent_of_batch(extent(n, n, lda), std::int64_t{lda} * n, count), "A");
    call.check(values, std::int64_t{n} * count, "W");
    call.check(info, count, "info");
    call.enqueue(operations(4, n, n, n, count), [=] {
        for (std::int64_t i = 0; i < count; ++i)
            info[i] = eigen<T>(job, uplo, n, a + i * lda * n, lda, values + i * n);
    });
}

template <class T>
void generalised(const Call &call, int type, int jobz, int mode, int n, T *a, int lda, T *b,
                 int ldb, Real<T> *values, int *info) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    require(type >= 1 && type <= 3, "itype");
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, n, ldb, "B");
    call.check(values, n, "W");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(6, n, n, n), [=] {
        if (!is_finite(uplo, n, n, a, lda) || !is_finite(uplo, n, n, b, ldb)) {
            const int minor = cholesky_factor(uplo, n, b, ldb); // n + k: of this order
            *info = n + minor;
            fill_with_nan(n, 1, values, n);
            return fill_with_nan(n, n, a, lda);
        }
        std::vector<Real<T>> reals(static_cast<std::size_t>(std::max(1, 3 * n)));
        with_workspace<T>([&](T *work, int *size) {
            if constexpr (is_complex<T>)
                lapack<"?hegv", T>(&type, job, uplo, &n, a, &lda, b, &ldb, values, work, size,
                                   reals.data(), info);
            else
                lapack<"?sygv", T>(&type, job, uplo, &n, a, &lda, b, &ldb, values, work, size,
                                   info);
        });
    });
}

#define INSTANTIATE(T)                                                                             \
    template void eigenvalues(const Call &, int, int, int, T *, int, Real<T> *, int *, Jacobi);    \
    template void eigenvalues_batch(const Call &, int, int, int, T *, int, Real<T> *, int *, int); \
    template void generalised(const Call &, int, int, int, int, T *, int, T *, int, Real<T> *,     \
                              int *);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;
using softcusolver::Real;

#define FOR_ALL(S, T, start)                                                                       \
    CUSOLVER_DEFINE(cusolverDn##S##start##evd_bufferSize,                                          \
                    (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size),    \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##start##evd,                                                     \
                    (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values,     \
                     T *, int, int *info),                                                         \
                    softcusolver::eigenvalues<T>(call, jobz, mode, n, a, lda, values, info))       \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evj_bufferSize,                                                      \
        (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size, Jacobi),        \
        give_size(size))                                                                           \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evj,                                                                 \
        (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values, T *, int,       \
         int *info, Jacobi jacobi),                                                                \
        softcusolver::eigenvalues<T>(call, jobz, mode, n, a, lda, values, info, jacobi))           \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evjBatched_bufferSize,                                               \
        (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size, Jacobi, int),   \
        give_size(size))                                                                           \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evjBatched,                                                          \
        (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values, T *, int,       \
         int *info, Jacobi, int count),                                                            \
        softcusolver::eigenvalues_batch<T>(call, jobz, mode, n, a, lda, values, info, count))      \
    CUSOLVER_DEFINE(cusolverDn##S##start##gvd_bufferSize,                                          \
                    (Handle handle, int, int, int, int, const T *, int, const T *, int,            \
                     const Real<T> *, int *size),                                                  \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##gvd,                                                                 \
        (Handle handle, int type, int jobz, int mode, int n, T *a, int lda, T *b, int ldb,         \
         Real<T> *values, T *, int, int *info),                                                    \
        softcusolver::generalised<T>(call, type, jobz, mode, n, a, lda, b, ldb, values, info))     \
    CUSOLVER_DEFINE(cusolverDn##S##start##gvj_bufferSize,                                          \
                    (Handle handle, int, int, int, int, const T *, int, const T *, int,            \
                     const Real<T> *, int *size, Jacobi),                                          \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##gvj,                                                                 \
        (Handle handle, int type, int jobz, int mode, int n, T *a, int lda, T *b, int ldb,         \
         Real<T> *values, T *, int, int *info, Jacobi),                                            \
        softcusolver::generalised<T>(call, type, jobz, mode, n, a, lda, b, ldb, values, info))
FOR_ALL(S, float, sy)
FOR_ALL(D, double, sy)
FOR_ALL(C, Complex, he)
FOR_ALL(Z, DoubleComplex, he)
