// singular.cpp -- singular values: gesvd, gesvdj and their batched forms.
#include "operations.h"
#include "spectral.h"

namespace softcusolver {

template <class T>
void singular_values(const Call &call, signed char jobu, signed char jobvt, int m, int n, T *a,
                     int lda, Real<T> *values, T *u, int ldu, T *vt, int ldvt, int *info) {
    const char left[] = {static_cast<char>(jobu), '\0'}, right[] = {static_cast<char>(jobvt), '\0'};
    const std::string letters = "ASON";
    require(letters.find(left[0]) != std::string::npos &&
                letters.find(right[0]) != std::string::npos && (left[0] != 'O' || right[0] != 'O'),
            "jobu, jobvt");
    require(m >= n, "m must not be smaller than n");
    call.matrix(a, m, n, lda, "A");
    call.check(values, n, "S");
    call.check(info, 1, "devInfo");
    if (left[0] == 'A' || left[0] == 'S')
        call.matrix(u, m, left[0] == 'A' ? m : n, ldu, "U");
    if (right[0] == 'A' || right[0] == 'S')
        call.matrix(vt, n, n, ldvt, "VT");
    call.enqueue(operations(8, m, n, n), [=, job_u = left[0], job_vt = right[0]] {
        const char letter_u[] = {job_u, '\0'}, letter_vt[] = {job_vt, '\0'};
        *info = singular<T>(letter_u, letter_vt, m, n, a, lda, values, u, std::max(1, ldu), vt,
                            std::max(1, ldvt));
    });
}

template <class T>
void singular_values_v(const Call &call, int jobz, int economy, int m, int n, T *a, int lda,
                       Real<T> *values, T *u, int ldu, T *v, int ldv, int *info, Jacobi jacobi) {
    const bool with_vectors = *vectors(jobz) == 'V';
    const int least = std::min(m, n);
    const int columns = economy != 0 ? least : m, rank = economy != 0 ? least : n;
    call.matrix(a, m, n, lda, "A");
    call.check(values, least, "S");
    call.check(info, 1, "devInfo");
    if (with_vectors) {
        call.matrix(u, m, columns, ldu, "U");
        call.matrix(v, n, rank, ldv, "V");
    }
    const bool jacobi_form = jacobi != nullptr;
    auto residual = jacobi_form ? jacobi->residual : nullptr;
    call.enqueue(operations(8, m, n, least), [=] {
        std::vector<T> kept;
        if (residual && with_vectors)
            kept = packed(m, n, a, lda);
        *info = singular_v(with_vectors, m, n, a, lda, values, u, ldu, v, ldv, columns, rank);
        if (jacobi_form && *info > 0)
            *info = least + 1; // the sweeps have not converged
        if (residual)
            *residual = with_vectors && *info == 0
                            ? singular_residual<T>(m, n, least, kept, values, u, ldu, v, ldv)
                            : 0.0;
    });
}

namespace {

/// The distances between the matrices of a batch, in elements.
struct Strides {
    std::int64_t a, values, u, v;
};

template <class T>
void batch(const Call &call, int jobz, int columns, int rank, int m, int n, T *a, int lda,
           Real<T> *values, T *u, int ldu, T *v, int ldv, int *info, const Strides &strides,
           int count) {
    const bool with_vectors = *vectors(jobz) == 'V';
    require(m >= 0 && n >= 0 && count >= 0 && lda >= std::max(1, m), "m, n, lda, batch size");
    require(!with_vectors || (ldu >= std::max(1, m) && ldv >= std::max(1, n)), "ldu, ldv");
    if (count == 0)
        return;
    call.check(a, extent_of_batch(extent(m, n, lda), strides.a, count), "A");
    call.check(values, extent_of_batch(std::min(m, n), strides.values, count), "S");
    call.check(info, count, "info");
    if (with_vectors) {
        call.check(u, extent_of_batch(extent(m, columns, ldu), strides.u, count), "U");
        call.check(v, extent_of_batch(extent(n, rank, ldv), strides.v, count), "V");
    }
    call.enqueue(operations(8, m, n, std::min(m, n), count), [=] {
        for (std::int64_t i = 0; i < count; ++i)
            info[i] =
                singular_v(with_vectors, m, n, a + i * strides.a, lda, values + i * strides.values,
                           u + i * strides.u, ldu, v + i * strides.v, ldv, columns, rank);
    });
}

} // namespace

template <class T>
void leading_singular_values(const Call &call, int jobz, int rank, int m, int n, const T *a,
                             int lda, std::int64_t stride_a, Real<T> *values, std::int64_t stride_s,
                             T *u, int ldu, std::int64_t stride_u, T *v, int ldv,
                             std::int64_t stride_v, int *info, double *residuals, int count) {
    const bool with_vectors = *vectors(jobz) == 'V';
    const int least = std::min(m, n);
    require(m >= 0 && n >= 0 && count >= 0 && lda >= std::max(1, m), "m, n, lda, batch size");
    require(rank >= 0 && rank <= least, "rank");
    require(!with_vectors || (ldu >= std::max(1, m) && ldv >= std::max(1, n)), "ldu, ldv");
    require(stride_a >= 0 && stride_s >= 0 && stride_u >= 0 && stride_v >= 0, "the strides");
    if (count == 0)
        return;
    call.check(a, extent_of_batch(extent(m, n, lda), stride_a, count), "A");
    call.check(values, extent_of_batch(rank, stride_s, count), "S");
    call.check(info, count, "info");
    if (with_vectors) {
        call.check(u, extent_of_batch(extent(m, rank, ldu), stride_u, count), "U");
        call.check(v, extent_of_batch(extent(n, rank, ldv), stride_v, count), "V");
    }
    const auto work = [=] {
        const auto elements = [](int rows, int columns) {
            return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
        };
        std::vector<Real<T>> all(static_cast<std::size_t>(least));
        std::vector<T> left(elements(m, least)), right(elements(n, least));
        for (std::int64_t i = 0; i < count; ++i) {
            const std::vector<T> kept = packed(m, n, a + i * stride_a, lda);
            std::vector<T> copy = kept;
            const int rows = std::max(1, m), columns = std::max(1, n);
            info[i] = singular_v(with_vectors, m, n, copy.data(), rows, all.data(), left.data(),
                                 rows, right.data(), columns, least, least);
            std::copy_n(all.begin(), rank, values + i * stride_s);
            for (std::int64_t k = 0; with_vectors && k < rank; ++k) {
                std::copy_n(left.data() + k * m, m, u + i * stride_u + k * ldu);
                std::copy_n(right.data() + k * n, n, v + i * stride_v + k * ldv);
            }
            if (residuals != nullptr)
                residuals[i] = with_vectors && info[i] == 0
                                   ? rank_residual<T>(m, n, rank, kept, all.data(), left, right)
                                   : 0.0;
        }
    };
    if (residuals != nullptr)
        call.run(work); // they are in the host's memory
    else
        call.enqueue(operations(8, m, n, least, count), work);
}

#define INSTANTIATE(T)                                                                             \
    template void singular_values(const Call &, signed char, signed char, int, int, T *, int,      \
                                  Real<T> *, T *, int, T *, int, int *);                           \
    template void singular_values_v(const Call &, int, int, int, int, T *, int, Real<T> *, T *,    \
                                    int, T *, int, int *, Jacobi);                                 \
    template void leading_singular_values(                                                         \
        const Call &, int, int, int, int, const T *, int, std::int64_t, Real<T> *, std::int64_t,   \
        T *, int, std::int64_t, T *, int, std::int64_t, int *, double *, int);
CUSOLVER_INSTANTIATE(INSTANTIATE)

} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::DoubleComplex;
using softcusolver::give_size;
using softcusolver::Handle;
using softcusolver::Real;

#define FOR_ALL(S, T)                                                                              \
    CUSOLVER_DEFINE(cusolverDn##S##gesvd_bufferSize, (Handle handle, int, int, int *size),         \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##gesvd,                                                          \
                    (Handle handle, signed char jobu, signed char jobvt, int m, int n, T *a,       \
                     int lda, Real<T> *values, T *u, int ldu, T *vt, int ldvt, T *, int,           \
                     Real<T> *, int *info),                                                        \
                    softcusolver::singular_values<T>(call, jobu, jobvt, m, n, a, lda, values, u,   \
                                                     ldu, vt, ldvt, info))                         \
    CUSOLVER_DEFINE(cusolverDn##S##gesvdj_bufferSize,                                              \
                    (Handle handle, int, int, int, int, const T *, int, const Real<T> *,           \
                     const T *, int, const T *, int, int *size, void *),                           \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##gesvdj,                                                         \
                    (Handle handle, int jobz, int economy, int m, int n, T *a, int lda,            \
                     Real<T> *values, T *u, int ldu, T *v, int ldv, T *, int, int *info,           \
                     Jacobi jacobi),                                                               \
                    softcusolver::singular_values_v<T>(call, jobz, economy, m, n, a, lda, values,  \
                                                       u, ldu, v, ldv, info, jacobi))              \
    CUSOLVER_DEFINE(cusolverDn##S##gesvdjBatched_bufferSize,                                       \
                    (Handle handle, int, int, int, const T *, int, const Real<T> *, const T *,     \
                     int, const T *, int, int *size, void *, int),                                 \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(cusolverDn##S##gesvdjBatched,                                                  \
                    (Handle handle, int jobz, int m, int n, T *a, int lda, Real<T> *values, T *u,  \
                     int ldu, T *v, int ldv, T *, int, int *info, void *, int count),              \
                    softcusolver::batch<T>(call, jobz, m, n, m, n, a, lda, values, u, ldu, v, ldv, \
                                           info,                                                   \
                                           {std::int64_t{lda} * n, std::min(m, n),                 \
                                            std::int64_t{ldu} * m, std::int64_t{ldv} * n},         \
                                           count))                                                 \
    CUSOLVER_DEFINE(cusolverDn##S##gesvdaStridedBatched_bufferSize,                                \
                    (Handle handle, int, int, int, int, const T *, int, long long,                 \
                     const Real<T> *, long long, const T *, int, long long, const T *, int,        \
                     long long, int *size, int),                                                   \
                    give_size(size))                                                               \
    CUSOLVER_DEFINE(                                                                               \
        cusolverDn##S##gesvdaStridedBatched,                                                       \
        (Handle handle, int jobz, int rank, int m, int n, const T *a, int lda, long long stride_a, \
         Real<T> *values, long long stride_s, T *u, int ldu, long long stride_u, T *v, int ldv,    \
         long long stride_v, T *, int, int *info, double *residuals, int count),                   \
        softcusolver::leading_singular_values<T>(call, jobz, rank, m, n, a, lda, stride_a, values, \
                                                 stride_s, u, ldu, stride_u, v, ldv, stride_v,     \
                                                 info, residuals, count))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
