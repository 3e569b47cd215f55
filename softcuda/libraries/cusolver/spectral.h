// spectral.h -- eigenvalues and singular values of one matrix at host addresses.
#pragma once

#include "handle.h"

#include <cmath>
#include <limits>

namespace softcusolver {

/// The elements of a matrix by columns, without gaps.
template <class T> std::vector<T> packed(int m, int n, const T *a, int lda) {
    std::vector<T> copy(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    for (std::int64_t j = 0; j < n; ++j)
        std::copy_n(a + j * lda, m, copy.data() + j * m);
    return copy;
}

/// Whether a part of a matrix is finite: "A" for all rows of a column, "L" and "U" for those of a
/// triangle. LAPACK's methods may not end, or report success, for a matrix that is not.
template <class T> bool is_finite(const char *part, int m, int n, const T *a, int lda) {
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t first = *part == 'L' ? j : 0, end = *part == 'U' ? j + 1 : m;
        for (std::int64_t i = first; i < end; ++i)
            if (!std::isfinite(std::real(a[i + j * lda])) ||
                !std::isfinite(std::imag(a[i + j * lda])))
                return false;
    }
    return true;
}

/// Sets all elements to NaN: no result of a matrix that is not finite.
template <class T> void fill_with_nan(int m, int n, T *a, int lda) {
    for (std::int64_t j = 0; j < n; ++j)
        std::fill_n(a + j * lda, m, T(std::numeric_limits<Real<T>>::quiet_NaN()));
}

/// Cholesky's factor of a triangle in place. Returns LAPACK's info, the order of the first leading
/// minor that is not positive. OpenBLAS's functions take NaN for a positive one.
template <class T> int cholesky_factor(const char *uplo, int n, T *a, int lda) {
    int info = 0;
    lapack<"?potrf", T>(uplo, &n, a, &lda, &info);
    for (std::int64_t k = 0; k < n && info == 0; ++k)
        if (!(std::real(a[k + k * lda]) > 0))
            info = static_cast<int>(k) + 1;
    return info;
}

/// The Frobenius norm.
template <class T> double norm_of(const std::vector<T> &elements) {
    double sum = 0;
    for (const T &element : elements)
        sum += static_cast<double>(std::norm(element));
    return std::sqrt(sum);
}

/// |A V - V W| of a symmetric or Hermitian matrix, of which a triangle is stored.
template <class T>
double eigen_residual(const char *uplo, int n, const std::vector<T> &a, const std::vector<T> &v,
                      const Real<T> *values) {
    std::vector<T> sums(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
        sums[i] = v[i] * values[i / static_cast<std::size_t>(n)];
    const int triangle = *uplo == 'L' ? softlib::lower : softlib::upper, lead = std::max(1, n);
    const T one{1}, minus{-1};
    if constexpr (is_complex<T>)
        softlib::blas<void, "?hemm", T>(softlib::column_major, softlib::left, triangle, n, n,
                                        softlib::scalar(one), a.data(), lead, v.data(), lead,
                                        softlib::scalar(minus), sums.data(), lead);
    else
        softlib::blas<void, "?symm", T>(softlib::column_major, softlib::left, triangle, n, n, one,
                                        a.data(), lead, v.data(), lead, minus, sums.data(), lead);
    return norm_of(sums);
}

/// |A V - U S|, of the first `rank` columns of U and V.
template <class T>
double singular_residual(int m, int n, int rank, const std::vector<T> &a, const Real<T> *values,
                         const T *u, int ldu, const T *v, int ldv) {
    std::vector<T> sums = packed(m, rank, u, ldu);
    for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] *= values[i / static_cast<std::size_t>(m)];
    const T one{1}, minus{-1};
    softlib::blas<void, "?gemm", T>(softlib::column_major, softlib::no_transpose,
                                    softlib::no_transpose, m, rank, n, softlib::scalar(one),
                                    a.data(), std::max(1, m), v, ldv, softlib::scalar(minus),
                                    sums.data(), std::max(1, m));
    return norm_of(sums);
}

/// |A - U S V^H|, of the first `rank` columns of U and V, which have no gaps.
template <class T>
double rank_residual(int m, int n, int rank, std::vector<T> a, const Real<T> *values,
                     std::vector<T> u, const std::vector<T> &v) {
    for (std::size_t i = 0; i < u.size(); ++i)
        u[i] *= values[i / static_cast<std::size_t>(m)];
    const T one{1}, minus{-1};
    softlib::blas<void, "?gemm", T>(softlib::column_major, softlib::no_transpose,
                                    softlib::conjugate_transpose, m, n, rank,
                                    softlib::scalar(minus), u.data(), std::max(1, m), v.data(),
                                    std::max(1, n), softlib::scalar(one), a.data(), std::max(1, m));
    return norm_of(a);
}

/// The eigenvalues of a symmetric or Hermitian matrix in `values`, and with `job` "V" the vectors
/// in `a`. Returns LAPACK's info. A matrix that is not finite has info n: nothing converged.
template <class T>
int eigen(const char *job, const char *uplo, int n, T *a, int lda, Real<T> *values) {
    if (!is_finite(uplo, n, n, a, lda)) {
        fill_with_nan(n, 1, values, n);
        fill_with_nan(n, n, a, lda);
        return n;
    }
    int info = 0, integers = -1, wanted_integers = 0, size = -1;
    T wanted{};
    Real<T> wanted_reals{};
    int reals = -1;
    const auto call = [&](T *work, Real<T> *real_work, int *integer_work) {
        if constexpr (is_complex<T>)
            lapack<"?heevd", T>(job, uplo, &n, a, &lda, values, work, &size, real_work, &reals,
                                integer_work, &integers, &info);
        else
            lapack<"?syevd", T>(job, uplo, &n, a, &lda, values, work, &size, integer_work,
                                &integers, &info);
    };
    call(&wanted, &wanted_reals, &wanted_integers);
    size = std::max(1, static_cast<int>(std::real(wanted)));
    reals = std::max(1, static_cast<int>(wanted_reals));
    integers = std::max(1, wanted_integers);
    std::vector<T> work(static_cast<std::size_t>(size));
    std::vector<Real<T>> real_work(static_cast<std::size_t>(reals));
    std::vector<int> integer_work(static_cast<std::size_t>(integers));
    call(work.data(), real_work.data(), integer_work.data());
    return info;
}

/// The singular values of a matrix, which is overwritten, and its vectors as LAPACK's letters say.
/// Returns LAPACK's info. A matrix that is not finite has info min(m, n): nothing converged.
template <class T>
int singular(const char *job_u, const char *job_vt, int m, int n, T *a, int lda, Real<T> *values,
             T *u, int ldu, T *vt, int ldvt) {
    int info = 0;
    const int least = std::min(m, n);
    if (!is_finite("A", m, n, a, lda)) {
        fill_with_nan(least, 1, values, least);
        fill_with_nan(m, n, a, lda);
        if (*job_u == 'A' || *job_u == 'S')
            fill_with_nan(m, *job_u == 'A' ? m : least, u, ldu);
        if (*job_vt == 'A' || *job_vt == 'S')
            fill_with_nan(*job_vt == 'A' ? n : least, n, vt, ldvt);
        return least;
    }
    std::vector<Real<T>> real_work(static_cast<std::size_t>(5 * std::max(1, std::min(m, n))));
    with_workspace<T>([&](T *work, int *size) {
        if constexpr (is_complex<T>)
            lapack<"?gesvd", T>(job_u, job_vt, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt, work,
                                size, real_work.data(), &info);
        else
            lapack<"?gesvd", T>(job_u, job_vt, &m, &n, a, &lda, values, u, &ldu, vt, &ldvt, work,
                                size, &info);
    });
    return info;
}

/// The same, with V instead of its conjugate transpose: `rank` columns of V, and `columns` of U.
template <class T>
int singular_v(bool with_vectors, int m, int n, T *a, int lda, Real<T> *values, T *u, int ldu, T *v,
               int ldv, int columns, int rank) {
    if (!with_vectors) {
        const int one = 1;
        return singular<T>("N", "N", m, n, a, lda, values, u, one, v, one);
    }
    const bool full = columns > std::min(m, n) || rank > std::min(m, n);
    const int ldvt = full ? std::max(1, n) : std::max(1, std::min(m, n));
    std::vector<T> left(full ? static_cast<std::size_t>(m) * static_cast<std::size_t>(m) : 0);
    std::vector<T> vt(static_cast<std::size_t>(ldvt) * static_cast<std::size_t>(std::max(1, n)));
    const char *const job = full ? "A" : "S";
    const int info = singular<T>(job, job, m, n, a, lda, values, full ? left.data() : u,
                                 full ? std::max(1, m) : ldu, vt.data(), ldvt);
    for (std::int64_t j = 0; full && j < columns; ++j)
        std::copy_n(left.data() + j * m, m, u + j * ldu);
    for (std::int64_t i = 0; i < rank; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const T value = vt[static_cast<std::size_t>(i + j * ldvt)];
            if constexpr (is_complex<T>)
                v[j + i * ldv] = std::conj(value);
            else
                v[j + i * ldv] = value;
        }
    return info;
}

} // namespace softcusolver
