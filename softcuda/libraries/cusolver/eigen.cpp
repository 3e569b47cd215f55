// eigen.cpp -- eigenvalues of symmetric and Hermitian matrices: syevd, syevj, sygvd.
//
// The Jacobi forms (syevj) have the results of syevd: LAPACK has no Jacobi method for them.
#include "spectral.h"

#include <memory>

/// syevjInfo_t and gesvdjInfo_t point to it.
struct SoftcusolverJacobi {
    double tolerance = 0;
    int sweeps = 100;
    int sorted = 1;
};

namespace softcusolver {
namespace {

template <class T>
void one(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values, int *info) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(values, n, "W");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(4, n, n, n), [=] { *info = eigen<T>(job, uplo, n, a, lda, values); });
}

template <class T>
void batch(const Call &call, int jobz, int mode, int n, T *a, int lda, Real<T> *values, int *info,
           int count) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    require(n >= 0 && lda >= std::max(1, n) && count >= 0, "n, lda, batch size");
    call.check(a, std::int64_t{lda} * n * count, "A");
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

} // namespace
} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;
using softcusolver::Real;
using Jacobi = SoftcusolverJacobi *;

#define FOR_ALL(S, T, start)                                                                       \
    CUSOLVER_DEFINE(cusolverDn##S##start##evd_bufferSize,                                          \
                    (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size),    \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##start##evd,                                                     \
                    (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values,     \
                     T *, int, int *info),                                                         \
                    softcusolver::one<T>(call, jobz, mode, n, a, lda, values, info))               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evj_bufferSize,                                                      \
        (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size, Jacobi),        \
        give_size(size))                                                                           \
    CUSOLVER_DEFINE(cusolverDn##S##start##evj,                                                     \
                    (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values,     \
                     T *, int, int *info, Jacobi),                                                 \
                    softcusolver::one<T>(call, jobz, mode, n, a, lda, values, info))               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##start##evjBatched_bufferSize,                                               \
        (Handle handle, int, int, int, const T *, int, const Real<T> *, int *size, Jacobi, int),   \
        give_size(size))                                                                           \
    CUSOLVER_DEFINE(cusolverDn##S##start##evjBatched,                                              \
                    (Handle handle, int jobz, int mode, int n, T *a, int lda, Real<T> *values,     \
                     T *, int, int *info, Jacobi, int count),                                      \
                    softcusolver::batch<T>(call, jobz, mode, n, a, lda, values, info, count))      \
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

// The settings of Jacobi's method are kept; results are sorted and exact to rounding.
#define JACOBI(name)                                                                               \
    SOFTLIB_EXPORT int cusolverDnCreate##name##jInfo(Jacobi *info) {                               \
        return softlib::guarded("cusolverDnCreate" #name "jInfo", [&] {                            \
            softlib::require(info != nullptr, "info");                                             \
            *info = std::make_unique<SoftcusolverJacobi>().release();                              \
        });                                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnDestroy##name##jInfo(Jacobi info) {                               \
        delete info;                                                                               \
        return softlib::statuses.success;                                                          \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetTolerance(Jacobi info, double tolerance) {           \
        return softlib::guarded("cusolverDnX" #name "jSetTolerance", [&] {                         \
            softlib::require(info != nullptr, "info");                                             \
            info->tolerance = tolerance;                                                           \
        });                                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetMaxSweeps(Jacobi info, int sweeps) {                 \
        return softlib::guarded("cusolverDnX" #name "jSetMaxSweeps", [&] {                         \
            softlib::require(info != nullptr, "info");                                             \
            info->sweeps = sweeps;                                                                 \
        });                                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cusolverDnX##name##jSetSortEig(Jacobi info, int sorted) {                   \
        return softlib::guarded("cusolverDnX" #name "jSetSortEig", [&] {                           \
            softlib::require(info != nullptr, "info");                                             \
            info->sorted = sorted;                                                                 \
        });                                                                                        \
    }
JACOBI(syev)
JACOBI(gesvd)
