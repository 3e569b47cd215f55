// fake_cusolver.cpp -- a libcusolver for tests on softcuda, whose device memory is host memory.
//
// It has the functions of cusolver.def, implemented with small_lapack.h. With it, tests check that
// matrices, triangles and results are passed in LAPACK's layout.
#include "fake_libraries/fake_device.h"
#include "fake_libraries/small_lapack.h"

#include <cstddef>
#include <cstring>

namespace {

using fake::Handle;
using fake::Matrix;
using fake::Real;
using std::int64_t;

constexpr std::size_t device_bytes = 48, host_bytes = 16;

void set_sizes(std::size_t *device, std::size_t *host) {
    *device = device_bytes;
    *host = host_bytes;
}

/// Writes to the workspaces, so that a wrong size causes a crash.
int use(Handle *handle, void *device, std::size_t on_device, void *host, std::size_t on_host) {
    if (on_device < device_bytes || on_host < host_bytes)
        return 31;
    std::memset(host, 1, on_host);
    if (const int failed = handle->wait())
        return failed;
    std::memset(device, 1, on_device);
    return 0;
}

template <class T> Matrix<T> matrix(void *data, int64_t rows, int64_t columns, int64_t leading) {
    return {static_cast<T *>(data), rows, columns, leading};
}

template <class T> int orgqr(Handle *h, int m, int n, int k, void *a, int lda, const void *tau) {
    if (m < n || n < k)
        return 3;
    if (const int failed = h->wait())
        return failed;
    fake::make_q(matrix<T>(a, m, n, lda), static_cast<const T *>(tau), k);
    return 0;
}

template <class T>
int potrf_batched(Handle *h, int uplo, int n, void **a, int lda, int *info, int count) {
    if (const int failed = h->wait())
        return failed;
    for (int i = 0; i < count; ++i)
        info[i] = fake::cholesky(matrix<T>(a[i], n, n, lda), uplo == 1);
    return 0;
}

} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cusolverDnCreate(Handle **handle) {
    *handle = new Handle;
    return 0;
}
FAKE cusolverDnDestroy(Handle *handle) {
    delete handle;
    return 0;
}
/// For tests.
FAKE fake_live_handles() { return fake::Handle::live; }
FAKE cusolverDnSetStream(Handle *handle, CUstream stream) {
    handle->stream = stream;
    return 0;
}
FAKE cusolverDnCreateParams(void **params) {
    *params = new int(0);
    return 0;
}
FAKE cusolverDnDestroyParams(void *params) {
    delete static_cast<int *>(params);
    return 0;
}

FAKE cusolverDnXgetrf_bufferSize(Handle *, void *, int64_t, int64_t, int, const void *, int64_t,
                                 int, std::size_t *device, std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXgetrf(Handle *h, void *, int64_t m, int64_t n, int type, void *a, int64_t lda,
                      int64_t *pivots, int, void *d, std::size_t ds, void *w, std::size_t ws,
                      int *info) {
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    return fake::with_type(type, [&](auto number) {
        *info = fake::lu(matrix<decltype(number)>(a, m, n, lda), pivots);
        return 0;
    });
}
FAKE cusolverDnXpotrf_bufferSize(Handle *, void *, int, int64_t, int, const void *, int64_t, int,
                                 std::size_t *device, std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXpotrf(Handle *h, void *, int uplo, int64_t n, int type, void *a, int64_t lda, int,
                      void *d, std::size_t ds, void *w, std::size_t ws, int *info) {
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    return fake::with_type(type, [&](auto number) {
        *info = fake::cholesky(matrix<decltype(number)>(a, n, n, lda), uplo == 1);
        return 0;
    });
}
#define FAKE_POTRF(letter, T)                                                                      \
    FAKE cusolverDn##letter##potrfBatched(Handle *h, int uplo, int n, void **a, int lda,           \
                                          int *info, int count) {                                  \
        return potrf_batched<T>(h, uplo, n, a, lda, info, count);                                  \
    }
FAKE_POTRF(S, float)
FAKE_POTRF(D, double)
FAKE_POTRF(C, std::complex<float>)
FAKE_POTRF(Z, std::complex<double>)

FAKE cusolverDnXgeqrf_bufferSize(Handle *, void *, int64_t, int64_t, int, const void *, int64_t,
                                 int, const void *, int, std::size_t *device, std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXgeqrf(Handle *h, void *, int64_t m, int64_t n, int type, void *a, int64_t lda, int,
                      void *tau, int, void *d, std::size_t ds, void *w, std::size_t ws, int *info) {
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        fake::qr(matrix<T>(a, m, n, lda), static_cast<T *>(tau));
        *info = 0;
        return 0;
    });
}
#define FAKE_ORGQR(name, T)                                                                        \
    FAKE cusolverDn##name##_bufferSize(Handle *, int, int, int, const void *, int, const void *,   \
                                       int *size) {                                                \
        *size = 1;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    FAKE cusolverDn##name(Handle *h, int m, int n, int k, void *a, int lda, const void *tau,       \
                          void *, int, int *info) {                                                \
        *info = 0;                                                                                 \
        return orgqr<T>(h, m, n, k, a, lda, tau);                                                  \
    }
FAKE_ORGQR(Sorgqr, float)
FAKE_ORGQR(Dorgqr, double)
FAKE_ORGQR(Cungqr, std::complex<float>)
FAKE_ORGQR(Zungqr, std::complex<double>)

FAKE cusolverDnXsyevd_bufferSize(Handle *, void *, int, int, int64_t, int, const void *, int64_t,
                                 int, const void *, int, std::size_t *device, std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXsyevd(Handle *h, void *, int, int uplo, int64_t n, int type, void *a, int64_t lda,
                      int, void *values, int, void *d, std::size_t ds, void *w, std::size_t ws,
                      int *info) {
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        const Matrix<T> narrow = matrix<T>(a, n, n, lda);
        const fake::WideCopy<T> wide(narrow, n);
        std::vector<long double> found(static_cast<std::size_t>(n));
        fake::eigh(wide.matrix, uplo == 1, found.data());
        wide.put(narrow);
        std::copy(found.begin(), found.end(), static_cast<Real<T> *>(values));
        *info = 0;
        return 0;
    });
}
FAKE cusolverDnXsyevBatched_bufferSize(Handle *, void *, int, int, int64_t, int, const void *,
                                       int64_t, int, const void *, int, std::size_t *device,
                                       std::size_t *host, int64_t) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXsyevBatched(Handle *h, void *params, int job, int uplo, int64_t n, int type,
                            void *a, int64_t lda, int real, void *values, int compute, void *d,
                            std::size_t ds, void *w, std::size_t ws, int *info, int64_t count) {
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        for (int64_t i = 0; i < count; ++i)
            if (const int failed = cusolverDnXsyevd(
                    h, params, job, uplo, n, type, static_cast<T *>(a) + i * lda * n, lda, real,
                    static_cast<Real<T> *>(values) + i * n, compute, d, ds, w, ws, info + i))
                return failed;
        return 0;
    });
}

namespace {

/// U and V of m rows and n columns; V or its adjoint.
template <class T>
void svd(const Matrix<T> &a, Real<T> *s, T *u, int64_t u_columns, T *v, bool adjoint) {
    const int64_t m = a.rows, n = a.columns;
    const fake::WideCopy<T> left(a, u_columns);
    const fake::WideCopy<T> right(n, n);
    auto columns = left.matrix;
    columns.columns = n;
    std::vector<long double> lengths(static_cast<std::size_t>(n));
    fake::svd(columns, right.matrix, lengths.data());
    std::copy(lengths.begin(), lengths.end(), s);
    if (u == nullptr)
        return;
    fake::normalise(left.matrix, n, lengths.data());
    left.put({u, m, u_columns, m});
    const Matrix<T> out{v, n, n, n};
    right.put(out);
    for (int64_t j = 0; adjoint && j < n; ++j) {
        out(j, j) = fake::conjugate(out(j, j));
        for (int64_t i = 0; i < j; ++i) {
            const T x = out(i, j);
            out(i, j) = fake::conjugate(out(j, i));
            out(j, i) = fake::conjugate(x);
        }
    }
}

} // namespace

FAKE cusolverDnXgesvdp_bufferSize(Handle *, void *, int, int, int64_t, int64_t, int, const void *,
                                  int64_t, int, const void *, int, const void *, int64_t, int,
                                  const void *, int64_t, int, std::size_t *device,
                                  std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXgesvdp(Handle *h, void *, int, int economy, int64_t m, int64_t n, int type, void *a,
                       int64_t lda, int, void *s, int, void *u, int64_t, int, void *v, int64_t, int,
                       void *d, std::size_t ds, void *w, std::size_t ws, int *info,
                       double *perturbation) {
    if (m < n)
        return 3;
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    *perturbation = 0;
    *info = 0;
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        svd(matrix<T>(a, m, n, lda), static_cast<Real<T> *>(s), static_cast<T *>(u),
            economy == 1 ? n : m, static_cast<T *>(v), false);
        return 0;
    });
}
FAKE cusolverDnXgesvd_bufferSize(Handle *, void *, signed char, signed char, int64_t, int64_t, int,
                                 const void *, int64_t, int, const void *, int, const void *,
                                 int64_t, int, const void *, int64_t, int, std::size_t *device,
                                 std::size_t *host) {
    set_sizes(device, host);
    return 0;
}
FAKE cusolverDnXgesvd(Handle *h, void *, signed char job, signed char, int64_t m, int64_t n,
                      int type, void *a, int64_t lda, int, void *s, int, void *u, int64_t, int,
                      void *v, int64_t, int, void *d, std::size_t ds, void *w, std::size_t ws,
                      int *info) {
    if (m < n)
        return 3;
    if (const int failed = use(h, d, ds, w, ws))
        return failed;
    return fake::with_type(type, [&](auto number) {
        using T = decltype(number);
        svd(matrix<T>(a, m, n, lda), static_cast<Real<T> *>(s),
            job == 'N' ? nullptr : static_cast<T *>(u), job == 'A' ? m : n, static_cast<T *>(v),
            true);
        *info = 0;
        return 0;
    });
}

FAKE cusolverDnCreateGesvdjInfo(void **info) { return cusolverDnCreateParams(info); }
FAKE cusolverDnDestroyGesvdjInfo(void *info) { return cusolverDnDestroyParams(info); }

namespace {

template <class T>
int gesvdj(Handle *h, int economy, int m, int n, void *a, int lda, void *s, void *u, void *v,
           int *info) {
    if (m < n)
        return 3;
    if (const int failed = h->wait())
        return failed;
    svd(matrix<T>(a, m, n, lda), static_cast<Real<T> *>(s), static_cast<T *>(u),
        economy == 1 ? n : m, static_cast<T *>(v), false);
    *info = 0;
    return 0;
}

} // namespace

#define FAKE_GESVDJ(letter, T)                                                                     \
    FAKE cusolverDn##letter##gesvdj_bufferSize(Handle *, int, int, int, int, const void *, int,    \
                                               const void *, const void *, int, const void *, int, \
                                               int *size, void *) {                                \
        *size = 1;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    FAKE cusolverDn##letter##gesvdj(Handle *h, int, int economy, int m, int n, void *a, int lda,   \
                                    void *s, void *u, int, void *v, int, void *, int, int *info,   \
                                    void *) {                                                      \
        return gesvdj<T>(h, economy, m, n, a, lda, s, u, v, info);                                 \
    }                                                                                              \
    FAKE cusolverDn##letter##gesvdjBatched_bufferSize(Handle *, int, int, int, const void *, int,  \
                                                      const void *, const void *, int,             \
                                                      const void *, int, int *size, void *, int) { \
        *size = 1;                                                                                 \
        return 0;                                                                                  \
    }                                                                                              \
    FAKE cusolverDn##letter##gesvdjBatched(Handle *h, int, int m, int n, void *a, int lda,         \
                                           void *s, void *u, int, void *v, int, void *, int,       \
                                           int *info, void *, int count) {                         \
        if (m > 32 || n > 32)                                                                      \
            return 3;                                                                              \
        for (int64_t i = 0; i < count; ++i)                                                        \
            if (const int failed =                                                                 \
                    gesvdj<T>(h, 0, m, n, static_cast<T *>(a) + i * m * n, lda,                    \
                              static_cast<Real<T> *>(s) + i * n, static_cast<T *>(u) + i * m * m,  \
                              static_cast<T *>(v) + i * n * n, info + i))                          \
                return failed;                                                                     \
        return 0;                                                                                  \
    }
FAKE_GESVDJ(S, float)
FAKE_GESVDJ(D, double)
FAKE_GESVDJ(C, std::complex<float>)
FAKE_GESVDJ(Z, std::complex<double>)
