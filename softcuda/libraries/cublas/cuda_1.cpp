// cuda_1.cpp -- the interface of cublas.h, which has no handles: one handle serves the process.
//
// A function calls the one with the suffix _v2, whose arguments follow from its own: letters become
// numbers, scalars become addresses, and a result has an address at the end. Statuses are kept for
// cublasGetError().
#include "handle.h"

#include <atomic>

namespace softcublas {
namespace {

extern "C" {
void cublasCreate_v2();
void cublasDestroy_v2();
void cublasSetStream_v2();
}

struct Process {
    std::mutex mutex; ///< held while the handle is made or destroyed
    std::atomic<Handle> handle = nullptr;
    std::atomic<int> status = 0; ///< of the first failure since cublasGetError()
};

Process &process() {
    static auto *const made = new Process; // threads may call while the process ends
    return *made;
}

int keep(int status) {
    int none = statuses.success;
    if (status != statuses.success)
        process().status.compare_exchange_strong(none, status);
    return status;
}

/// The number that a letter means: of an operation, a triangle, a diagonal or a side.
int number_of(char letter) {
    switch (letter) {
    case 'N': // no transpose, or no unit diagonal
    case 'n':
    case 'L': // lower, or left
    case 'l':
        return 0;
    case 'T': // transpose
    case 't':
    case 'U': // upper, or unit diagonal
    case 'u':
    case 'R': // right
    case 'r':
        return 1;
    case 'C': // conjugate transpose
    case 'c':
        return 2;
    default:
        return -1;
    }
}

/// An argument for the function with a handle.
inline int adapted(const char &letter) { return number_of(letter); }
inline int adapted(const int &value) { return value; }
template <class T> T *adapted(T *const &address) { return address; }
template <class T>
    requires(!std::is_pointer_v<T>)
const T *adapted(const T &value) {
    return &value;
}

template <class... Arguments> void forward(void (*function)(), const Arguments &...arguments) {
    const auto call = reinterpret_cast<int (*)(Handle, decltype(adapted(arguments))...)>(function);
    const Handle handle = process().handle;
    keep(handle == nullptr ? statuses.not_initialized : call(handle, adapted(arguments)...));
}

/// The same for a function that gives a result, which is 0 after a failure.
template <class Result, class... Arguments>
Result give(void (*function)(), const Arguments &...arguments) {
    Result result{};
    forward(function, arguments..., &result);
    return result;
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;
using softcublas::Real;

SOFTLIB_EXPORT int cublasInit() {
    softcublas::Process &process = softcublas::process();
    std::lock_guard lock(process.mutex);
    if (process.handle != nullptr)
        return 0;
    Handle made = nullptr;
    const auto create = reinterpret_cast<int (*)(Handle *)>(&softcublas::cublasCreate_v2);
    const int status = create(&made);
    process.handle = made;
    return softcublas::keep(status);
}
SOFTLIB_EXPORT int cublasShutdown() {
    softcublas::Process &process = softcublas::process();
    std::lock_guard lock(process.mutex);
    const Handle ended = process.handle.exchange(nullptr);
    const auto destroy = reinterpret_cast<int (*)(Handle)>(&softcublas::cublasDestroy_v2);
    return ended == nullptr ? softlib::statuses.not_initialized : destroy(ended);
}
SOFTLIB_EXPORT int cublasGetError() { return softcublas::process().status.exchange(0); }
SOFTLIB_FUNCTION(cublasAlloc, (int n, int size, void **address), {
    softlib::require(address != nullptr && n > 0 && size > 0, "n, elemSize, devicePtr");
    *address = nullptr;
    softcublas::checked(softcublas::process().handle.load());
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, static_cast<std::size_t>(n) * static_cast<std::size_t>(size)) !=
        CUDA_SUCCESS)
        throw std::bad_alloc();
    *address = reinterpret_cast<void *>(memory);
})
SOFTLIB_FUNCTION(cublasFree, (const void *address), {
    softcublas::checked(softcublas::process().handle.load());
    softlib::check_driver(cuMemFree(reinterpret_cast<CUdeviceptr>(address)), "cuMemFree");
})
SOFTLIB_EXPORT int cublasSetKernelStream(CUstream stream) {
    const Handle handle = softcublas::process().handle;
    const auto set = reinterpret_cast<int (*)(Handle, CUstream)>(&softcublas::cublasSetStream_v2);
    return softcublas::keep(handle == nullptr ? softlib::statuses.not_initialized
                                              : set(handle, stream));
}

// FUNCTION(name, (parameters), arguments...) and RESULT(type, name, ...).
#define FUNCTION(name, parameters, ...)                                                            \
    extern "C" void cublas##name##_v2();                                                           \
    SOFTLIB_EXPORT void cublas##name parameters {                                                  \
        softcublas::forward(&cublas##name##_v2, __VA_ARGS__);                                      \
    }
#define RESULT(type, name, parameters, ...)                                                        \
    extern "C" void cublas##name##_v2();                                                           \
    SOFTLIB_EXPORT type cublas##name parameters {                                                  \
        return softcublas::give<type>(&cublas##name##_v2, __VA_ARGS__);                            \
    }

// Level 1. R is the type of the real parts; SR are the letters of functions with such a result.
#define LEVEL_1(S, small, T, SR)                                                                   \
    RESULT(Real<T>, SR##nrm2, (int n, const T *x, int incx), n, x, incx)                           \
    RESULT(Real<T>, SR##asum, (int n, const T *x, int incx), n, x, incx)                           \
    RESULT(int, I##small##amax, (int n, const T *x, int incx), n, x, incx)                         \
    RESULT(int, I##small##amin, (int n, const T *x, int incx), n, x, incx)                         \
    FUNCTION(S##scal, (int n, T alpha, T *x, int incx), n, alpha, x, incx)                         \
    FUNCTION(S##axpy, (int n, T alpha, const T *x, int incx, T *y, int incy), n, alpha, x, incx,   \
             y, incy)                                                                              \
    FUNCTION(S##copy, (int n, const T *x, int incx, T *y, int incy), n, x, incx, y, incy)          \
    FUNCTION(S##swap, (int n, T *x, int incx, T *y, int incy), n, x, incx, y, incy)                \
    FUNCTION(S##rot, (int n, T *x, int incx, T *y, int incy, Real<T> c, T s), n, x, incx, y, incy, \
             c, s)
LEVEL_1(S, s, float, S)
LEVEL_1(D, d, double, D)
LEVEL_1(C, c, Complex, Sc)
LEVEL_1(Z, z, DoubleComplex, Dz)

#define DOT(T, name)                                                                               \
    RESULT(T, name, (int n, const T *x, int incx, const T *y, int incy), n, x, incx, y, incy)
DOT(float, Sdot)
DOT(double, Ddot)
DOT(Complex, Cdotu)
DOT(Complex, Cdotc)
DOT(DoubleComplex, Zdotu)
DOT(DoubleComplex, Zdotc)

#define BY_REAL(S, T)                                                                              \
    FUNCTION(S##scal, (int n, Real<T> alpha, T *x, int incx), n, alpha, x, incx)                   \
    FUNCTION(S##rot, (int n, T *x, int incx, T *y, int incy, Real<T> c, Real<T> s), n, x, incx, y, \
             incy, c, s)
BY_REAL(Cs, Complex)
BY_REAL(Zd, DoubleComplex)

#define ROTATIONS(S, T)                                                                            \
    FUNCTION(S##rotg, (T * a, T * b, T * c, T * s), a, b, c, s)                                    \
    FUNCTION(S##rotm, (int n, T *x, int incx, T *y, int incy, const T *parameters), n, x, incx, y, \
             incy, parameters)                                                                     \
    FUNCTION(S##rotmg, (T * d1, T * d2, T * x1, const T *y1, T *parameters), d1, d2, x1, y1,       \
             parameters)
ROTATIONS(S, float)
ROTATIONS(D, double)
FUNCTION(Crotg, (Complex * a, Complex b, float *c, Complex *s), a, b, c, s)
FUNCTION(Zrotg, (DoubleComplex * a, DoubleComplex b, double *c, DoubleComplex *s), a, b, c, s)

// Levels 2 and 3.
#define TRIANGULAR(S, T, what)                                                                     \
    FUNCTION(S##tr##what,                                                                          \
             (char uplo, char op, char diag, int n, const T *a, int lda, T *x, int incx), uplo,    \
             op, diag, n, a, lda, x, incx)                                                         \
    FUNCTION(S##tb##what,                                                                          \
             (char uplo, char op, char diag, int n, int k, const T *a, int lda, T *x, int incx),   \
             uplo, op, diag, n, k, a, lda, x, incx)                                                \
    FUNCTION(S##tp##what, (char uplo, char op, char diag, int n, const T *a, T *x, int incx),      \
             uplo, op, diag, n, a, x, incx)
#define GENERAL(S, T)                                                                              \
    FUNCTION(S##gemv,                                                                              \
             (char op, int m, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta,   \
              T *y, int incy),                                                                     \
             op, m, n, alpha, a, lda, x, incx, beta, y, incy)                                      \
    FUNCTION(S##gbmv,                                                                              \
             (char op, int m, int n, int kl, int ku, T alpha, const T *a, int lda, const T *x,     \
              int incx, T beta, T *y, int incy),                                                   \
             op, m, n, kl, ku, alpha, a, lda, x, incx, beta, y, incy)                              \
    TRIANGULAR(S, T, mv)                                                                           \
    TRIANGULAR(S, T, sv)                                                                           \
    FUNCTION(S##gemm,                                                                              \
             (char op_a, char op_b, int m, int n, int k, T alpha, const T *a, int lda, const T *b, \
              int ldb, T beta, T *c, int ldc),                                                     \
             op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)                             \
    FUNCTION(S##trsm,                                                                              \
             (char side, char uplo, char op, char diag, int m, int n, T alpha, const T *a,         \
              int lda, T *b, int ldb),                                                             \
             side, uplo, op, diag, m, n, alpha, a, lda, b, ldb)                                    \
    FUNCTION(S##trmm,                                                                              \
             (char side, char uplo, char op, char diag, int m, int n, T alpha, const T *a,         \
              int lda, T *b, int ldb),                                                             \
             side, uplo, op, diag, m, n, alpha, a, lda, const_cast<const T *>(b), ldb, b, ldb)
GENERAL(S, float)
GENERAL(D, double)
GENERAL(C, Complex)
GENERAL(Z, DoubleComplex)

#define RANK_ONE(name, T)                                                                          \
    FUNCTION(name,                                                                                 \
             (int m, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda),   \
             m, n, alpha, x, incx, y, incy, a, lda)
RANK_ONE(Sger, float)
RANK_ONE(Dger, double)
RANK_ONE(Cgeru, Complex)
RANK_ONE(Cgerc, Complex)
RANK_ONE(Zgeru, DoubleComplex)
RANK_ONE(Zgerc, DoubleComplex)

// Functions of symmetric matrices (s, sy) or Hermitian ones (h, he).
#define SYMMETRIC_VECTORS(S, T, s, sy)                                                             \
    FUNCTION(S##sy##mv,                                                                            \
             (char uplo, int n, T alpha, const T *a, int lda, const T *x, int incx, T beta, T *y,  \
              int incy),                                                                           \
             uplo, n, alpha, a, lda, x, incx, beta, y, incy)                                       \
    FUNCTION(S##s##bmv,                                                                            \
             (char uplo, int n, int k, T alpha, const T *a, int lda, const T *x, int incx, T beta, \
              T *y, int incy),                                                                     \
             uplo, n, k, alpha, a, lda, x, incx, beta, y, incy)                                    \
    FUNCTION(                                                                                      \
        S##s##pmv,                                                                                 \
        (char uplo, int n, T alpha, const T *a, const T *x, int incx, T beta, T *y, int incy),     \
        uplo, n, alpha, a, x, incx, beta, y, incy)                                                 \
    FUNCTION(S##sy##r, (char uplo, int n, Real<T> alpha, const T *x, int incx, T *a, int lda),     \
             uplo, n, alpha, x, incx, a, lda)                                                      \
    FUNCTION(S##s##pr, (char uplo, int n, Real<T> alpha, const T *x, int incx, T *a), uplo, n,     \
             alpha, x, incx, a)                                                                    \
    FUNCTION(                                                                                      \
        S##sy##r2,                                                                                 \
        (char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a, int lda),    \
        uplo, n, alpha, x, incx, y, incy, a, lda)                                                  \
    FUNCTION(S##s##pr2,                                                                            \
             (char uplo, int n, T alpha, const T *x, int incx, const T *y, int incy, T *a), uplo,  \
             n, alpha, x, incx, y, incy, a)
SYMMETRIC_VECTORS(S, float, s, sy)
SYMMETRIC_VECTORS(D, double, s, sy)
SYMMETRIC_VECTORS(C, Complex, h, he)
SYMMETRIC_VECTORS(Z, DoubleComplex, h, he)

// A and B are the types of alpha and beta of rank updates, B that of beta of double rank updates.
#define SYMMETRIC_MATRICES(S, T, sy, A, B)                                                         \
    FUNCTION(                                                                                      \
        S##sy##rk,                                                                                 \
        (char uplo, char op, int n, int k, A alpha, const T *a, int lda, B beta, T *c, int ldc),   \
        uplo, op, n, k, alpha, a, lda, beta, c, ldc)                                               \
    FUNCTION(S##sy##r2k,                                                                           \
             (char uplo, char op, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, \
              B beta, T *c, int ldc),                                                              \
             uplo, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc)                                  \
    FUNCTION(S##sy##mm,                                                                            \
             (char side, char uplo, int m, int n, T alpha, const T *a, int lda, const T *b,        \
              int ldb, T beta, T *c, int ldc),                                                     \
             side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc)
SYMMETRIC_MATRICES(S, float, sy, float, float)
SYMMETRIC_MATRICES(D, double, sy, double, double)
SYMMETRIC_MATRICES(C, Complex, sy, Complex, Complex)
SYMMETRIC_MATRICES(Z, DoubleComplex, sy, DoubleComplex, DoubleComplex)
SYMMETRIC_MATRICES(C, Complex, he, float, float)
SYMMETRIC_MATRICES(Z, DoubleComplex, he, double, double)
