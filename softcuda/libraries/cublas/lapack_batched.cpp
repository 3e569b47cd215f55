// lapack_batched.cpp -- cuBLAS's batches of factorisations, inverses and least-squares solutions.
#include "handle.h"

#include "../common/pivots.h"

#include <cstring>
#include <string>
#include <vector>

namespace softcublas {
namespace {

using softlib::lapack;

/// Checks the arrays of a batch, and that its sizes are possible.
void check_sizes(std::int64_t n, std::int64_t leading, std::int64_t count) {
    require(n >= 0 && leading >= std::max<std::int64_t>(1, n) && count >= 0,
            "n, leading dimension, batch size");
}

/// LU of one matrix without row exchanges, for which LAPACK has no function. Returns LAPACK's info.
template <class T> int factor_without_pivots(int n, T *a, std::int64_t lda) {
    int info = 0;
    for (int k = 0; k < n; ++k) {
        const T pivot = a[k + k * lda];
        if (pivot == T{}) {
            info = info == 0 ? k + 1 : info;
            continue;
        }
        for (int i = k + 1; i < n; ++i)
            a[i + k * lda] /= pivot;
        for (int j = k + 1; j < n; ++j) {
            const T factor = a[k + j * lda];
            for (int i = k + 1; i < n; ++i)
                a[i + j * lda] -= a[i + k * lda] * factor;
        }
    }
    return info;
}

template <class T>
void factor(const Call &call, int n, T *const *a, int lda, int *pivots, int *info, int count) {
    check_sizes(n, lda, count);
    call.check(a, count, "the addresses of A");
    if (pivots != nullptr)
        call.check(pivots, std::int64_t{n} * count, "the pivots");
    call.check(info, count, "info");
    call.enqueue(operations(n, n, n, count), [=] {
        // LAPACK reads the pivots again: they may not be in memory that the client can change.
        std::vector<int> rows(static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            int status = 0;
            if (pivots == nullptr)
                status = factor_without_pivots(n, a[i], lda);
            else
                lapack<"?getrf", T>(&n, &n, a[i], &lda, rows.data(), &status);
            if (pivots != nullptr)
                std::ranges::copy(rows, pivots + i * n);
            info[i] = status;
        }
    });
}

template <class T>
void solve(const Call &call, int op, int n, int columns, const T *const *a, int lda,
           const int *pivots, T *const *b, int ldb, int *info, int count) {
    require(info != nullptr, "info");
    *info = 0;
    require(op >= 0 && op <= 2 && columns >= 0 && ldb >= std::max(1, n), "operation, nrhs, ldb");
    check_sizes(n, lda, count);
    call.check(a, count, "the addresses of A");
    call.check(b, count, "the addresses of B");
    if (pivots != nullptr)
        call.check(pivots, std::int64_t{n} * count, "the pivots");
    call.enqueue(operations(n, n, columns, count), [=] {
        const char *const trans = op == 0 ? "N" : op == 1 ? "T" : "C";
        std::vector<int> none(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            none[static_cast<std::size_t>(i)] = i + 1;
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            check_batched(b[i], extent(n, columns, ldb), "B");
            if (pivots != nullptr)
                softlib::check_pivots(pivots + i * n, n, n);
            int status = 0;
            lapack<"?getrs", T>(trans, &n, &columns, a[i], &lda,
                                pivots != nullptr ? pivots + i * n
                                                  : static_cast<const int *>(none.data()),
                                b[i], &ldb, &status);
        }
    });
}

/// The inverse of an LU factorisation in `to`, which may not be `a`. Returns the number of the
/// first zero pivot, or 0; as on a GPU, the inverse then has infinities and NaN.
template <class T>
int invert_factored(int n, const T *a, int lda, const int *pivots, T *to, int ldc) {
    const std::vector<T> identity = [&] {
        std::vector<T> made(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            made[static_cast<std::size_t>(i) * static_cast<std::size_t>(n + 1)] = T{1};
        return made;
    }();
    int zero_pivot = 0;
    for (int i = n; i-- > 0;)
        if (a[i + std::int64_t{i} * lda] == T{})
            zero_pivot = i + 1;
    for (std::int64_t j = 0; j < n; ++j)
        std::copy_n(identity.data() + j * n, n, to + j * ldc);
    int info = 0;
    lapack<"?getrs", T>("N", &n, &n, a, &lda, pivots, to, &ldc, &info);
    return zero_pivot;
}

template <class T>
void invert(const Call &call, int n, const T *const *a, int lda, const int *pivots, T *const *c,
            int ldc, int *info, int count) {
    require(ldc >= std::max(1, n), "ldc");
    check_sizes(n, lda, count);
    call.check(a, count, "the addresses of A");
    call.check(c, count, "the addresses of C");
    call.check(info, count, "info");
    if (pivots != nullptr)
        call.check(pivots, std::int64_t{n} * count, "the pivots");
    call.enqueue(operations(n, n, n, count), [=] {
        std::vector<int> none(static_cast<std::size_t>(n));
        for (int i = 0; i < n; ++i)
            none[static_cast<std::size_t>(i)] = i + 1;
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            check_batched(c[i], extent(n, n, ldc), "C");
            if (pivots != nullptr)
                softlib::check_pivots(pivots + i * n, n, n);
            info[i] = invert_factored(n, a[i], lda,
                                      pivots != nullptr ? pivots + i * n : none.data(), c[i], ldc);
        }
    });
}

template <class T>
void invert_plain(const Call &call, int n, const T *const *a, int lda, T *const *c, int ldc,
                  int *info, int count) {
    if (n > 32)
        throw Failure(statuses.invalid_value, "matinvBatched is for matrices of at most 32 rows");
    require(ldc >= std::max(1, n), "ldc");
    check_sizes(n, lda, count);
    call.check(a, count, "the addresses of A");
    call.check(c, count, "the addresses of the inverses");
    call.check(info, count, "info");
    call.enqueue(operations(n, n, n, count), [=] {
        std::vector<T> copy(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
        std::vector<int> pivots(static_cast<std::size_t>(n));
        const int lead = std::max(1, n);
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(n, n, lda), "A");
            check_batched(c[i], extent(n, n, ldc), "C");
            for (std::int64_t j = 0; j < n; ++j)
                std::copy_n(a[i] + j * lda, n, copy.data() + j * n);
            lapack<"?getrf", T>(&n, &n, copy.data(), &lead, pivots.data(), info + i);
            if (info[i] >= 0)
                info[i] = invert_factored(n, copy.data(), lead, pivots.data(), c[i], ldc);
        }
    });
}

template <class T>
void factor_qr(const Call &call, int m, int n, T *const *a, int lda, T *const *tau, int *info,
               int count) {
    require(info != nullptr, "info");
    *info = 0;
    require(m >= 0 && n >= 0 && lda >= std::max(1, m) && count >= 0, "m, n, lda, batch size");
    call.check(a, count, "the addresses of A");
    call.check(tau, count, "the addresses of tau");
    call.enqueue(operations(m, n, n, count), [=] {
        if (count == 0)
            return;
        check_batched(a[0], extent(m, n, lda), "A"); // before a workspace of n is allocated
        int size = -1, status = 0;
        T wanted{};
        lapack<"?geqrf", T>(&m, &n, static_cast<T *>(nullptr), &lda, static_cast<T *>(nullptr),
                            &wanted, &size, &status);
        size = std::max({1, n, static_cast<int>(std::real(wanted))});
        std::vector<T> work(static_cast<std::size_t>(size));
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(m, n, lda), "A");
            check_batched(tau[i], std::min(m, n), "tau");
            lapack<"?geqrf", T>(&m, &n, a[i], &lda, tau[i], work.data(), &size, &status);
        }
    });
}

template <class T>
void least_squares(const Call &call, int op, int m, int n, int columns, T *const *a, int lda,
                   T *const *c, int ldc, int *info, int *device_info, int count) {
    require(info != nullptr, "info");
    *info = 0;
    if (op != 0)
        throw Failure(statuses.not_supported, "gelsBatched of transposed matrices");
    require(m >= n && n >= 0 && columns >= 0 && lda >= std::max(1, m) && ldc >= std::max(1, m) &&
                count >= 0,
            "m, n, nrhs, lda, ldc, batch size");
    call.check(a, count, "the addresses of A");
    call.check(c, count, "the addresses of C");
    if (device_info != nullptr)
        call.check(device_info, count, "devInfoArray");
    call.enqueue(operations(m, n, n, count), [=] {
        if (count == 0)
            return;
        check_batched(a[0], extent(m, n, lda), "A"); // before a workspace of n is allocated
        check_batched(c[0], extent(m, columns, ldc), "C");
        int size = std::max(1, n + std::max({m, n, columns}) * 32);
        std::vector<T> work(static_cast<std::size_t>(size));
        for (std::int64_t i = 0; i < count; ++i) {
            check_batched(a[i], extent(m, n, lda), "A");
            check_batched(c[i], extent(m, columns, ldc), "C");
            int status = 0;
            lapack<"?gels", T>("N", &m, &n, &columns, a[i], &lda, c[i], &ldc, work.data(), &size,
                               &status);
            if (device_info != nullptr)
                device_info[i] = status;
        }
    });
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;

#define FOR_ALL(S, T)                                                                              \
    CUBLAS_DEFINE(cublas##S##getrfBatched,                                                         \
                  (Handle handle, int n, T *const *a, int lda, int *pivots, int *info, int count), \
                  softcublas::factor<T>(call, n, a, lda, pivots, info, count))                     \
    CUBLAS_DEFINE(cublas##S##getrsBatched,                                                         \
                  (Handle handle, int op, int n, int columns, const T *const *a, int lda,          \
                   const int *pivots, T *const *b, int ldb, int *info, int count),                 \
                  softcublas::solve<T>(call, op, n, columns, a, lda, pivots, b, ldb, info, count)) \
    CUBLAS_DEFINE(cublas##S##getriBatched,                                                         \
                  (Handle handle, int n, const T *const *a, int lda, const int *pivots,            \
                   T *const *c, int ldc, int *info, int count),                                    \
                  softcublas::invert<T>(call, n, a, lda, pivots, c, ldc, info, count))             \
    CUBLAS_DEFINE(cublas##S##matinvBatched,                                                        \
                  (Handle handle, int n, const T *const *a, int lda, T *const *c, int ldc,         \
                   int *info, int count),                                                          \
                  softcublas::invert_plain<T>(call, n, a, lda, c, ldc, info, count))               \
    CUBLAS_DEFINE(                                                                                 \
        cublas##S##geqrfBatched,                                                                   \
        (Handle handle, int m, int n, T *const *a, int lda, T *const *tau, int *info, int count),  \
        softcublas::factor_qr<T>(call, m, n, a, lda, tau, info, count))                            \
    CUBLAS_DEFINE(cublas##S##gelsBatched,                                                          \
                  (Handle handle, int op, int m, int n, int columns, T *const *a, int lda,         \
                   T *const *c, int ldc, int *info, int *device_info, int count),                  \
                  softcublas::least_squares<T>(call, op, m, n, columns, a, lda, c, ldc, info,      \
                                               device_info, count))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
