// selected.cpp -- some of the eigenvalues of a matrix: syevdx, sygvdx.
#include "operations.h"
#include "spectral.h"

namespace softcusolver {
namespace {

constexpr int all = 1001, by_index = 1002, by_value = 1003;

template <class R> const char *letter_of(const Selection<R> &selection, int n) {
    require(selection.range >= all && selection.range <= by_value, "range");
    require(selection.range != by_index || n == 0 ||
                (1 <= selection.first && selection.first <= selection.last && selection.last <= n),
            "il, iu");
    require(selection.range != by_value || selection.low < selection.high, "vl, vu");
    return selection.range == all ? "A" : selection.range == by_index ? "I" : "V";
}

/// Enqueues `work`, which returns the number of eigenvalues. If it is not known before, the host
/// waits for it.
template <class R, class Count, class Work>
void enqueue(const Call &call, const Selection<R> &selection, int n, Count *count, Work work) {
    require(count != nullptr, "meig");
    if (selection.range == by_value)
        return call.run([=] { *count = work(); });
    *count = selection.range == all || n == 0 ? n : selection.last - selection.first + 1;
    call.enqueue(operations(4, n, n, n), [=] { static_cast<void>(work()); });
}

/// Copies eigenvectors into the matrix.
template <class T>
void replace(const char *job, int n, int count, const std::vector<T> &vectors, T *a, int lda) {
    for (std::int64_t j = 0; *job == 'V' && j < count; ++j)
        std::copy_n(vectors.data() + j * n, n, a + j * lda);
}

} // namespace

template <class T, class Count>
void selected(const Call &call, int jobz, const Selection<Real<T>> &selection, int mode, int n,
              T *a, int lda, Count *count, Real<T> *values, int *info) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    const char *const letter = letter_of(selection, n);
    call.matrix(a, n, n, lda, "A");
    call.check(values, n, "W");
    call.check(info, 1, "info");
    enqueue(call, selection, n, count, [=] {
        if (!is_finite(uplo, n, n, a, lda)) {
            fill_with_nan(n, 1, values, n);
            fill_with_nan(n, n, a, lda);
            *info = n; // nothing converged
            return 0;
        }
        const auto order = static_cast<std::size_t>(std::max(1, n));
        std::vector<T> z(order * order);
        std::vector<int> support(2 * order), integers(10 * order);
        std::vector<Real<T>> reals(24 * order);
        const int ldz = std::max(1, n), integer_size = static_cast<int>(integers.size());
        const int real_size = static_cast<int>(reals.size());
        const Real<T> tolerance = 0;
        int found = 0;
        with_workspace<T>([&](T *work, int *size) {
            if constexpr (is_complex<T>)
                lapack<"?heevr", T>(job, letter, uplo, &n, a, &lda, &selection.low, &selection.high,
                                    &selection.first, &selection.last, &tolerance, &found, values,
                                    z.data(), &ldz, support.data(), work, size, reals.data(),
                                    &real_size, integers.data(), &integer_size, info);
            else
                lapack<"?syevr", T>(job, letter, uplo, &n, a, &lda, &selection.low, &selection.high,
                                    &selection.first, &selection.last, &tolerance, &found, values,
                                    z.data(), &ldz, support.data(), work, size, integers.data(),
                                    &integer_size, info);
        });
        replace(job, n, found, z, a, lda);
        return found;
    });
}

template <class T, class Count>
void selected_generalised(const Call &call, int type, int jobz, const Selection<Real<T>> &selection,
                          int mode, int n, T *a, int lda, T *b, int ldb, Count *count,
                          Real<T> *values, int *info) {
    const char *const job = vectors(jobz), *const uplo = fill(mode);
    const char *const letter = letter_of(selection, n);
    require(type >= 1 && type <= 3, "itype");
    call.matrix(a, n, n, lda, "A");
    call.matrix(b, n, n, ldb, "B");
    call.check(values, n, "W");
    call.check(info, 1, "info");
    enqueue(call, selection, n, count, [=] {
        if (!is_finite(uplo, n, n, a, lda) || !is_finite(uplo, n, n, b, ldb)) {
            const int minor = cholesky_factor(uplo, n, b, ldb); // n + k: of this order
            *info = n + minor;
            fill_with_nan(n, 1, values, n);
            fill_with_nan(n, n, a, lda);
            return 0;
        }
        const auto order = static_cast<std::size_t>(std::max(1, n));
        std::vector<T> z(order * order);
        std::vector<int> failed(order), integers(5 * order);
        std::vector<Real<T>> reals(7 * order);
        const int ldz = std::max(1, n);
        const Real<T> tolerance = 0;
        int found = 0;
        with_workspace<T>([&](T *work, int *size) {
            if constexpr (is_complex<T>)
                lapack<"?hegvx", T>(&type, job, letter, uplo, &n, a, &lda, b, &ldb, &selection.low,
                                    &selection.high, &selection.first, &selection.last, &tolerance,
                                    &found, values, z.data(), &ldz, work, size, reals.data(),
                                    integers.data(), failed.data(), info);
            else
                lapack<"?sygvx", T>(&type, job, letter, uplo, &n, a, &lda, b, &ldb, &selection.low,
                                    &selection.high, &selection.first, &selection.last, &tolerance,
                                    &found, values, z.data(), &ldz, work, size, integers.data(),
                                    failed.data(), info);
        });
        replace(job, n, found, z, a, lda);
        return found;
    });
}

#define INSTANTIATE(T)                                                                             \
    template void selected(const Call &, int, const Selection<Real<T>> &, int, int, T *, int,      \
                           std::int64_t *, Real<T> *, int *);                                      \
    template void selected_generalised(const Call &, int, int, const Selection<Real<T>> &, int,    \
                                       int, T *, int, T *, int, std::int64_t *, Real<T> *, int *);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;
using softcusolver::Real;

#define FOR_ALL(S, T, start)                                                                       \
    CUSOLVER_DEFINE(cusolverDn##S##start##evdx_bufferSize,                                         \
                    (Handle handle, int, int, int, int, const T *, int, Real<T>, Real<T>, int,     \
                     int, int *, const Real<T> *, int *size),                                      \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##start##evdx,                                                    \
                    (Handle handle, int jobz, int range, int mode, int n, T *a, int lda,           \
                     Real<T> vl, Real<T> vu, int il, int iu, int *count, Real<T> *values, T *,     \
                     int, int *info),                                                              \
                    softcusolver::selected<T>(call, jobz, {range, vl, vu, il, iu}, mode, n, a,     \
                                              lda, count, values, info))                           \
    CUSOLVER_DEFINE(cusolverDn##S##start##gvdx_bufferSize,                                         \
                    (Handle handle, int, int, int, int, int, const T *, int, const T *, int,       \
                     Real<T>, Real<T>, int, int, int *, const Real<T> *, int *size),               \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##start##gvdx,                                                    \
                    (Handle handle, int type, int jobz, int range, int mode, int n, T *a, int lda, \
                     T *b, int ldb, Real<T> vl, Real<T> vu, int il, int iu, int *count,            \
                     Real<T> *values, T *, int, int *info),                                        \
                    softcusolver::selected_generalised<T>(call, type, jobz,                        \
                                                          {range, vl, vu, il, iu}, mode, n, a,     \
                                                          lda, b, ldb, count, values, info))
FOR_ALL(S, float, sy)
FOR_ALL(D, double, sy)
FOR_ALL(C, Complex, he)
FOR_ALL(Z, DoubleComplex, he)
