// reductions.cpp -- reductions to bidiagonal and tridiagonal form, and products with their
// orthogonal matrices: gebrd, orgbr, sytrd, orgtr, ormtr.
#include "handle.h"

namespace softcusolver {
namespace {

/// Calls the function of LAPACK that has one name for real and another one for complex elements.
template <Name real, Name complex, class T, class... Arguments>
void lapack_named(Arguments... arguments) {
    if constexpr (is_complex<T>)
        lapack<complex, T>(arguments...);
    else
        lapack<real, T>(arguments...);
}

template <class T>
void bidiagonal(const Call &call, int m, int n, T *a, int lda, Real<T> *d, Real<T> *e, T *tau_q,
                T *tau_p, int *info) {
    require(m >= n, "m must not be smaller than n");
    call.matrix(a, m, n, lda, "A");
    call.check(d, n, "D");
    call.check(e, std::max(0, n - 1), "E");
    call.check(tau_q, n, "TAUQ");
    call.check(tau_p, n, "TAUP");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(4, m, n, n), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack<"?gebrd", T>(&m, &n, a, &lda, d, e, tau_q, tau_p, work, size, info);
        });
    });
}

template <class T>
void make_bidiagonal_q(const Call &call, int side, int m, int n, int k, T *a, int lda, const T *tau,
                       int *info) {
    const char *const which = *side_of(side) == 'L' ? "Q" : "P";
    require(k >= 0 && (side == 0 ? m >= n && n >= std::min(m, k) : n >= m && m >= std::min(n, k)),
            "m, n, k");
    call.matrix(a, m, n, lda, "A");
    call.check(tau, std::min(side == 0 ? m : n, k), "tau");
    call.check(info, 1, "info");
    call.enqueue(operations(2, m, n, std::max(m, n)), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack_named<"?orgbr", "?ungbr", T>(which, &m, &n, &k, a, &lda, tau, work, size, info);
        });
    });
}

template <class T>
void tridiagonal(const Call &call, int mode, int n, T *a, int lda, Real<T> *d, Real<T> *e, T *tau,
                 int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(d, n, "d");
    call.check(e, std::max(0, n - 1), "e");
    call.check(tau, std::max(0, n - 1), "tau");
    call.check(info, 1, "info");
    call.enqueue(operations(2, n, n, n), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack_named<"?sytrd", "?hetrd", T>(uplo, &n, a, &lda, d, e, tau, work, size, info);
        });
    });
}

template <class T>
void make_tridiagonal_q(const Call &call, int mode, int n, T *a, int lda, const T *tau, int *info) {
    const char *const uplo = fill(mode);
    call.matrix(a, n, n, lda, "A");
    call.check(tau, std::max(0, n - 1), "tau");
    call.check(info, 1, "info");
    call.enqueue(operations(2, n, n, n), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack_named<"?orgtr", "?ungtr", T>(uplo, &n, a, &lda, tau, work, size, info);
        });
    });
}

template <class T>
void multiply_tridiagonal_q(const Call &call, int side, int mode, int op, int m, int n, const T *a,
                            int lda, const T *tau, T *c, int ldc, int *info) {
    const char *const place = side_of(side), *const uplo = fill(mode);
    const char *const trans = operation<T>(op);
    require(!is_complex<T> || op != 1, "operation");
    const int order = side == 0 ? m : n;
    call.matrix(a, order, order, lda, "A");
    call.matrix(c, m, n, ldc, "C");
    call.check(tau, std::max(0, order - 1), "tau");
    call.check(info, 1, "info");
    call.enqueue(operations(2, m, n, order), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack_named<"?ormtr", "?unmtr", T>(place, uplo, trans, &m, &n, a, &lda, tau, c, &ldc,
                                                work, size, info);
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

#define FOR_ALL(S, T, sy, q)                                                                       \
    CUSOLVER_DEFINE(cusolverDn##S##gebrd_bufferSize, (Handle handle, int, int, int *size),         \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##gebrd,                                                          \
                    (Handle handle, int m, int n, T *a, int lda, Real<T> *d, Real<T> *e, T *tau_q, \
                     T *tau_p, T *, int, int *info),                                               \
                    softcusolver::bidiagonal<T>(call, m, n, a, lda, d, e, tau_q, tau_p, info))     \
    CUSOLVER_DEFINE(cusolverDn##S##q##gbr_bufferSize,                                              \
                    (Handle handle, int, int, int, int, const T *, int, const T *, int *size),     \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##q##gbr,                                                         \
                    (Handle handle, int side, int m, int n, int k, T *a, int lda, const T *tau,    \
                     T *, int, int *info),                                                         \
                    softcusolver::make_bidiagonal_q<T>(call, side, m, n, k, a, lda, tau, info))    \
    CUSOLVER_DEFINE(cusolverDn##S##sy##trd_bufferSize,                                             \
                    (Handle handle, int, int, const T *, int, const Real<T> *, const Real<T> *,    \
                     const T *, int *size),                                                        \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##sy##trd,                                                        \
                    (Handle handle, int mode, int n, T *a, int lda, Real<T> *d, Real<T> *e,        \
                     T *tau, T *, int, int *info),                                                 \
                    softcusolver::tridiagonal<T>(call, mode, n, a, lda, d, e, tau, info))          \
    CUSOLVER_DEFINE(cusolverDn##S##q##gtr_bufferSize,                                              \
                    (Handle handle, int, int, const T *, int, const T *, int *size),               \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##q##gtr,                                                                     \
        (Handle handle, int mode, int n, T *a, int lda, const T *tau, T *, int, int *info),        \
        softcusolver::make_tridiagonal_q<T>(call, mode, n, a, lda, tau, info))                     \
    CUSOLVER_DEFINE(cusolverDn##S##q##mtr_bufferSize,                                              \
                    (Handle handle, int, int, int, int, int, const T *, int, const T *, const T *, \
                     int, int *size),                                                              \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##q##mtr,                                                         \
                    (Handle handle, int side, int mode, int op, int m, int n, T *a, int lda,       \
                     T *tau, T *c, int ldc, T *, int, int *info),                                  \
                    softcusolver::multiply_tridiagonal_q<T>(call, side, mode, op, m, n, a, lda,    \
                                                            tau, c, ldc, info))
FOR_ALL(S, float, sy, or)
FOR_ALL(D, double, sy, or)
FOR_ALL(C, Complex, he, un)
FOR_ALL(Z, DoubleComplex, he, un)
