// small_lapack.h -- short implementations of LAPACK's functions for column-major matrices, for the
// fake cuBLAS and cuSOLVER. They are slow and simple.
#pragma once

#include "fake_libraries/matrix.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace fake {

/// The number of the first column without a pivot, from 1; 0: none.
template <class T, class Index> int lu(const Matrix<T> &a, Index *pivots) {
    int info = 0;
    for (std::int64_t k = 0; k < a.rows; ++k) {
        std::int64_t best = k;
        for (std::int64_t i = k + 1; i < a.rows; ++i)
            if (size_of(a(i, k)) > size_of(a(best, k)))
                best = i;
        pivots[k] = static_cast<Index>(best + 1);
        if (a(best, k) == T(0)) {
            info = info == 0 ? static_cast<int>(k + 1) : info;
            continue;
        }
        for (std::int64_t j = 0; best != k && j < a.columns; ++j)
            std::swap(a(k, j), a(best, j));
        for (std::int64_t i = k + 1; i < a.rows; ++i) {
            a(i, k) /= a(k, k);
            for (std::int64_t j = k + 1; j < a.columns; ++j)
                a(i, j) -= a(i, k) * a(k, j);
        }
    }
    return info;
}

/// Solves with one triangle of `f`, or with the transposed triangle.
template <class T>
void solve_triangle(const Matrix<T> &f, const Matrix<T> &b, bool upper, bool ones,
                    bool transposed) {
    const std::int64_t n = f.rows;
    const bool forwards = upper == transposed;
    for (std::int64_t c = 0; c < b.columns; ++c)
        for (std::int64_t step = 0; step < n; ++step) {
            const std::int64_t k = forwards ? step : n - 1 - step;
            for (std::int64_t j = forwards ? 0 : k + 1; j < (forwards ? k : n); ++j)
                b(k, c) -= (transposed ? f(j, k) : f(k, j)) * b(j, c);
            if (!ones)
                b(k, c) /= f(k, k);
        }
}

template <class T, class Index>
void lu_solve(const Matrix<T> &f, const Index *pivots, const Matrix<T> &b, bool transposed) {
    const std::int64_t n = f.rows;
    const auto exchange = [&](std::int64_t k) {
        for (std::int64_t c = 0; c < b.columns; ++c)
            std::swap(b(k, c), b(static_cast<std::int64_t>(pivots[k]) - 1, c));
    };
    for (std::int64_t k = 0; k < n && !transposed; ++k)
        exchange(k);
    for (const bool upper : {transposed, !transposed})
        solve_triangle(f, b, upper, !upper, transposed);
    for (std::int64_t k = n - 1; k >= 0 && transposed; --k)
        exchange(k);
}

/// L L^H below the diagonal or U^H U above it.
template <class T> int cholesky(const Matrix<T> &a, bool upper) {
    auto at = [&](std::int64_t i, std::int64_t j) { // L, in either triangle
        return upper ? conjugate(a(j, i)) : a(i, j);
    };
    auto put = [&](std::int64_t i, std::int64_t j, T x) {
        (upper ? a(j, i) : a(i, j)) = upper ? conjugate(x) : x;
    };
    for (std::int64_t j = 0; j < a.rows; ++j) {
        Real<T> square = std::real(at(j, j));
        for (std::int64_t k = 0; k < j; ++k)
            square -= std::norm(at(j, k));
        if (!(square > 0))
            return static_cast<int>(j + 1);
        put(j, j, T(std::sqrt(square)));
        for (std::int64_t i = j + 1; i < a.rows; ++i) {
            T sum = at(i, j);
            for (std::int64_t k = 0; k < j; ++k)
                sum -= at(i, k) * conjugate(at(j, k));
            put(i, j, sum / at(j, j));
        }
    }
    return 0;
}

/// Applies 1 - factor v v^H to a column of b; v is 1 in row j and column j of a below.
template <class T>
void reflect(const Matrix<T> &a, std::int64_t j, T factor, const Matrix<T> &b, std::int64_t c) {
    T sum = b(j, c);
    for (std::int64_t i = j + 1; i < a.rows; ++i)
        sum += conjugate(a(i, j)) * b(i, c);
    sum *= factor;
    b(j, c) -= sum;
    for (std::int64_t i = j + 1; i < a.rows; ++i)
        b(i, c) -= a(i, j) * sum;
}

template <class T> void qr(const Matrix<T> &a, T *tau) {
    for (std::int64_t j = 0; j < std::min(a.rows, a.columns); ++j) {
        Real<T> below = 0;
        for (std::int64_t i = j + 1; i < a.rows; ++i)
            below = std::hypot(below, std::abs(a(i, j))); // squares might underflow
        const T alpha = a(j, j);
        tau[j] = T(0);
        if (below == 0 && std::imag(alpha) == 0)
            continue;
        const Real<T> beta = -std::copysign(std::hypot(std::abs(alpha), below), std::real(alpha));
        tau[j] = (T(beta) - alpha) / T(beta);
        for (std::int64_t i = j + 1; i < a.rows; ++i)
            a(i, j) /= alpha - T(beta);
        a(j, j) = T(beta);
        for (std::int64_t c = j + 1; c < a.columns; ++c)
            reflect(a, j, conjugate(tau[j]), a, c);
    }
}

/// Replaces the reflections in the first `count` columns of a by the first columns of Q.
template <class T> void make_q(const Matrix<T> &a, const T *tau, std::int64_t count) {
    std::vector<T> copy(a.data, a.data + a.leading * a.columns);
    const Matrix<T> v{copy.data(), a.rows, a.columns, a.leading};
    for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = 0; i < a.rows; ++i)
            a(i, j) = T(i == j ? 1 : 0);
    for (std::int64_t j = count - 1; j >= 0; --j)
        for (std::int64_t c = 0; c < a.columns; ++c)
            reflect(v, j, tau[j], a, c);
}

/// Rotates columns i and j of w, and of v, until they are orthogonal. False if they already were.
template <class T>
bool rotate(const Matrix<T> &w, const Matrix<T> &v, std::int64_t i, std::int64_t j) {
    Real<T> xx = 0, yy = 0;
    T xy = 0;
    for (std::int64_t k = 0; k < w.rows; ++k) {
        xx += std::norm(w(k, i));
        yy += std::norm(w(k, j));
        xy += conjugate(w(k, i)) * w(k, j);
    }
    const Real<T> size = std::abs(xy);
    if (!(size > std::numeric_limits<Real<T>>::epsilon() * 4 * std::sqrt(xx * yy)) || size == 0)
        return false;
    const Real<T> zeta = (yy - xx) / (2 * size);
    const Real<T> t =
        std::copysign(Real<T>(1), zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
    const Real<T> c = 1 / std::sqrt(1 + t * t), s = c * t;
    const T phase = xy / T(size);
    for (const Matrix<T> &m : {w, v})
        for (std::int64_t k = 0; k < m.rows; ++k) {
            const T x = m(k, i), y = conjugate(phase) * m(k, j);
            m(k, i) = T(c) * x - T(s) * y;
            m(k, j) = T(s) * x + T(c) * y;
        }
    return true;
}

/// A V = U S for a matrix with at least as many rows as columns: w becomes U S, v becomes V. The
/// columns of both are in the order of descending lengths, which are stored in s.
template <class T> void svd(const Matrix<T> &w, const Matrix<T> &v, Real<T> *s) {
    for (std::int64_t j = 0; j < v.columns; ++j)
        for (std::int64_t i = 0; i < v.rows; ++i)
            v(i, j) = T(i == j ? 1 : 0);
    // Columns that only contain rounding errors never converge; 30 sweeps are enough for others.
    bool moved = true;
    for (int sweep = 0; moved && sweep < 30; ++sweep) {
        moved = false;
        for (std::int64_t i = 0; i < w.columns; ++i)
            for (std::int64_t j = i + 1; j < w.columns; ++j)
                moved |= rotate(w, v, i, j);
    }
    auto length = [&](std::int64_t c) {
        Real<T> squares = 0;
        for (std::int64_t k = 0; k < w.rows; ++k)
            squares += std::norm(w(k, c));
        return std::sqrt(squares);
    };
    for (std::int64_t c = 0; c < w.columns; ++c) {
        std::int64_t longest = c;
        for (std::int64_t other = c + 1; other < w.columns; ++other)
            if (length(other) > length(longest))
                longest = other;
        for (const Matrix<T> &m : {w, v})
            for (std::int64_t k = 0; longest != c && k < m.rows; ++k)
                std::swap(m(k, c), m(k, longest));
        s[c] = length(c);
    }
}

/// Normalises columns to length 1. Columns of length 0, and columns from w.columns on, become
/// arbitrary columns that are orthogonal to the others.
template <class T> void normalise(const Matrix<T> &u, std::int64_t known, const Real<T> *s) {
    const Real<T> least =
        known == 0 ? 0 : s[0] * std::numeric_limits<Real<T>>::epsilon() * Real<T>(u.rows);
    std::int64_t next_unit = 0;
    for (std::int64_t c = 0; c < u.columns; ++c) {
        if (c < known && s[c] > least) {
            for (std::int64_t k = 0; k < u.rows; ++k)
                u(k, c) /= T(s[c]);
            continue;
        }
        for (Real<T> size = 0; !(size > Real<T>(0.1)); ++next_unit) {
            for (std::int64_t k = 0; k < u.rows; ++k)
                u(k, c) = T(k == next_unit % u.rows ? 1 : 0);
            for (int twice = 0; twice < 2; ++twice)
                for (std::int64_t other = 0; other < c; ++other) {
                    T part = 0;
                    for (std::int64_t k = 0; k < u.rows; ++k)
                        part += conjugate(u(k, other)) * u(k, c);
                    for (std::int64_t k = 0; k < u.rows; ++k)
                        u(k, c) -= part * u(k, other);
                }
            size = 0;
            for (std::int64_t k = 0; k < u.rows; ++k)
                size += std::norm(u(k, c));
            size = std::sqrt(size);
            for (std::int64_t k = 0; k < u.rows; ++k)
                u(k, c) /= T(size > 0 ? size : 1);
        }
    }
}

/// Eigenvalues, ascending, and eigenvectors of a Hermitian matrix, of which one triangle is read.
/// Computed from the singular values of a shifted, positive definite matrix.
template <class T> void eigh(const Matrix<T> &a, bool upper, Real<T> *values) {
    const std::int64_t n = a.rows;
    Real<T> bound = 0;
    for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < j; ++i) {
            if (upper)
                a(j, i) = conjugate(a(i, j));
            else
                a(i, j) = conjugate(a(j, i));
        }
        a(j, j) = T(std::real(a(j, j)));
    }
    for (std::int64_t i = 0; i < n; ++i) {
        Real<T> sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
            sum += std::abs(a(i, j));
        bound = std::max(bound, sum);
    }
    bound = bound == 0 ? 1 : Real<T>(1.5) * bound;
    std::vector<T> copy(static_cast<std::size_t>(n * n));
    const Matrix<T> w{copy.data(), n, n, n};
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < n; ++i)
            w(i, j) = T(i == j ? bound : 0) - a(i, j);
    std::vector<Real<T>> s(static_cast<std::size_t>(n));
    svd(w, a, s.data()); // bound - values, descending, so that values are ascending
    for (std::int64_t j = 0; j < n; ++j)
        values[j] = bound - s[static_cast<std::size_t>(j)];
}

} // namespace fake
