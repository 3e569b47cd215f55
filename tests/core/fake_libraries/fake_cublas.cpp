// fake_cublas.cpp -- a libcublas for tests on softcuda, whose device memory is host memory: the
// functions of cublas.def. See fake_cusolver.cpp.
#include "fake_libraries/fake_device.h"
#include "fake_libraries/small_lapack.h"

namespace {

using fake::Handle;
using fake::Matrix;
using std::int64_t;

template <class T>
int getrf_batched(Handle *h, int n, void *const *a, int lda, int *pivots, int *info, int count) {
    if (const int failed = h->wait())
        return failed;
    for (int i = 0; i < count; ++i)
        info[i] = fake::lu(Matrix<T>{static_cast<T *>(a[i]), n, n, lda}, pivots + i * n);
    return 0;
}

template <class T>
int getrs_batched(Handle *h, int op, int n, int sides, const void *const *a, int lda,
                  const int *pivots, void *const *b, int ldb, int *info, int count) {
    if (const int failed = h->wait())
        return failed;
    *info = 0;
    for (int i = 0; i < count; ++i)
        fake::lu_solve(Matrix<T>{static_cast<T *>(const_cast<void *>(a[i])), n, n, lda},
                       pivots + i * n, Matrix<T>{static_cast<T *>(b[i]), n, sides, ldb}, op == 1);
    return 0;
}

template <class T>
int trsm(Handle *h, int side, int upper, int op, int ones, int n, int columns, const void *alpha,
         const void *a, int lda, void *b, int ldb) {
    if (const int failed = h->wait())
        return failed;
    if (side != 0 || *static_cast<const T *>(alpha) != T(1))
        return 15; // not supported
    fake::solve_triangle(Matrix<T>{static_cast<T *>(const_cast<void *>(a)), n, n, lda},
                         Matrix<T>{static_cast<T *>(b), n, columns, ldb}, upper == 1, ones == 1,
                         op == 1);
    return 0;
}

} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cublasCreate_v2(Handle **handle) {
    *handle = new Handle;
    return 0;
}
FAKE cublasDestroy_v2(Handle *handle) {
    delete handle;
    return 0;
}
/// For tests.
FAKE fake_live_handles() { return fake::Handle::live; }
FAKE cublasSetStream_v2(Handle *handle, CUstream stream) {
    handle->stream = stream;
    return 0;
}
FAKE cublasGemmStridedBatchedEx_64(Handle *h, int op_a, int op_b, int64_t m, int64_t n, int64_t k,
                                   const void *alpha, const void *a, int type, int64_t lda,
                                   int64_t next_a, const void *b, int, int64_t ldb, int64_t next_b,
                                   const void *beta, void *c, int, int64_t ldc, int64_t next_c,
                                   int64_t count, int, int) {
    if (const int failed = h->wait())
        return failed;
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        for (int64_t one = 0; one < count; ++one)
            for (int64_t j = 0; j < n; ++j)
                for (int64_t i = 0; i < m; ++i) {
                    const T *left = static_cast<const T *>(a) + one * next_a;
                    const T *right = static_cast<const T *>(b) + one * next_b;
                    T sum = 0;
                    for (int64_t l = 0; l < k; ++l)
                        sum += left[op_a == 0 ? i + l * lda : l + i * lda] *
                               right[op_b == 0 ? l + j * ldb : j + l * ldb];
                    T &to = static_cast<T *>(c)[one * next_c + i + j * ldc];
                    const T kept = *static_cast<const T *>(beta) == T(0) ? T(0) : to;
                    to =
                        *static_cast<const T *>(alpha) * sum + *static_cast<const T *>(beta) * kept;
                }
        return 0;
    });
}

#define FAKE_STACK(letter, T)                                                                      \
    FAKE cublas##letter##trsm_v2(Handle *h, int side, int upper, int op, int ones, int n,          \
                                 int columns, const void *alpha, const void *a, int lda, void *b,  \
                                 int ldb) {                                                        \
        return trsm<T>(h, side, upper, op, ones, n, columns, alpha, a, lda, b, ldb);               \
    }                                                                                              \
    FAKE cublas##letter##getrfBatched(Handle *h, int n, void *const *a, int lda, int *pivots,      \
                                      int *info, int count) {                                      \
        return getrf_batched<T>(h, n, a, lda, pivots, info, count);                                \
    }                                                                                              \
    FAKE cublas##letter##getrsBatched(Handle *h, int op, int n, int sides, const void *const *a,   \
                                      int lda, const int *pivots, void *const *b, int ldb,         \
                                      int *info, int count) {                                      \
        return getrs_batched<T>(h, op, n, sides, a, lda, pivots, b, ldb, info, count);             \
    }
FAKE_STACK(S, float)
FAKE_STACK(D, double)
FAKE_STACK(C, std::complex<float>)
FAKE_STACK(Z, std::complex<double>)
