// orthogonal.cpp -- QR factorisations, and products with their orthogonal matrices.
#include "operations.h"

namespace softcusolver {

template <class T> void qr(const Call &call, int m, int n, T *a, int lda, T *tau, int *info) {
    call.matrix(a, m, n, lda, "A");
    call.check(tau, std::min(m, n), "tau");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(m, n, std::min(m, n)), [=] {
        with_workspace<T>([=](T *work, int *size) {
            lapack<"?geqrf", T>(&m, &n, a, &lda, tau, work, size, info);
        });
    });
}

namespace {

template <class T>
void make_q(const Call &call, int m, int n, int k, T *a, int lda, const T *tau, int *info) {
    require(k >= 0 && n >= k && m >= n, "m, n, k");
    call.matrix(a, m, n, lda, "A");
    call.check(tau, k, "tau");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(m, n, k), [=] {
        with_workspace<T>([=](T *work, int *size) {
            if constexpr (is_complex<T>)
                lapack<"?ungqr", T>(&m, &n, &k, a, &lda, tau, work, size, info);
            else
                lapack<"?orgqr", T>(&m, &n, &k, a, &lda, tau, work, size, info);
        });
    });
}

template <class T>
void multiply_q(const Call &call, int side, int op, int m, int n, int k, const T *a, int lda,
                const T *tau, T *c, int ldc, int *info) {
    const char *const place = side_of(side), *const trans = operation<T>(op);
    require(!is_complex<T> || op != 1, "operation");
    const int order = side == 0 ? m : n;
    require(k >= 0 && k <= order, "k");
    call.matrix(a, order, k, lda, "A");
    call.matrix(c, m, n, ldc, "C");
    call.check(tau, k, "tau");
    call.check(info, 1, "devInfo");
    call.enqueue(operations(m, n, k), [=] {
        with_workspace<T>([=](T *work, int *size) {
            if constexpr (is_complex<T>)
                lapack<"?unmqr", T>(place, trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, size,
                                    info);
            else
                lapack<"?ormqr", T>(place, trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, size,
                                    info);
        });
    });
}

} // namespace

#define INSTANTIATE(T) template void qr(const Call &, int, int, T *, int, T *, int *);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;

#define FOR_ALL(S, T, q)                                                                           \
    CUSOLVER_DEFINE(cusolverDn##S##geqrf_bufferSize,                                               \
                    (Handle handle, int, int, T *, int, int *size), give_size(size))               \
    CUSOLVER_DEFINE(cusolverDn##S##geqrf,                                                          \
                    (Handle handle, int m, int n, T *a, int lda, T *tau, T *, int, int *info),     \
                    softcusolver::qr<T>(call, m, n, a, lda, tau, info))                            \
    CUSOLVER_DEFINE(cusolverDn##S##q##gqr_bufferSize,                                              \
                    (Handle handle, int, int, int, const T *, int, const T *, int *size),          \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##q##gqr,                                                                     \
        (Handle handle, int m, int n, int k, T *a, int lda, const T *tau, T *, int, int *info),    \
        softcusolver::make_q<T>(call, m, n, k, a, lda, tau, info))                                 \
    CUSOLVER_DEFINE(cusolverDn##S##q##mqr_bufferSize,                                              \
                    (Handle handle, int, int, int, int, int, const T *, int, const T *, const T *, \
                     int, int *size),                                                              \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##q##mqr,                                                                     \
        (Handle handle, int side, int op, int m, int n, int k, const T *a, int lda, const T *tau,  \
         T *c, int ldc, T *, int, int *info),                                                      \
        softcusolver::multiply_q<T>(call, side, op, m, n, k, a, lda, tau, c, ldc, info))
FOR_ALL(S, float, or)
FOR_ALL(D, double, or)
FOR_ALL(C, Complex, un)
FOR_ALL(Z, DoubleComplex, un)
