// incomplete.h -- incomplete factorisations of a matrix in CSR, at host addresses.
#pragma once

#include "factor_info.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace softcusparse {

/// What replaces pivots whose absolute value is not above the tolerance.
template <class T> void set_boost(Info info, int enabled, const double *tolerance, const T *boost) {
    require(info != nullptr, "info");
    info->state->boosted = enabled != 0;
    if (!info->state->boosted)
        return;
    require(tolerance != nullptr && boost != nullptr, "tol and boost_val");
    info->state->tolerance = *tolerance;
    info->state->boost = DoubleComplex(*boost);
}

/// A row's elements and the place of its diagonal.
struct Lines {
    const int *offsets, *indices;
    int base;
    std::int64_t begin(std::int64_t row) const { return offsets[row] - base; }
    std::int64_t end(std::int64_t row) const { return offsets[row + 1] - base; }
    std::int64_t column(std::int64_t k) const { return indices[k] - base; }
    /// The element in this row and column; -1 if there is none.
    std::int64_t find(std::int64_t row, std::int64_t column_) const {
        for (std::int64_t k = begin(row); k < end(row); ++k)
            if (column(k) == column_)
                return k;
        return -1;
    }
};

/// A = L U without new elements; L has a unit diagonal.
template <class T> void incomplete_lu(int m, T *values, const Lines &lines, FactorState &state) {
    state.zero_pivot = -1;
    std::vector<std::int64_t> places(static_cast<std::size_t>(m), -1);
    for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t k = lines.begin(row); k < lines.end(row); ++k)
            places[lines.column(k)] = k;
        std::vector<std::int64_t> earlier;
        for (std::int64_t k = lines.begin(row); k < lines.end(row); ++k)
            if (lines.column(k) < row)
                earlier.push_back(lines.column(k));
        std::ranges::sort(earlier);
        for (const std::int64_t j : earlier) {
            const std::int64_t pivot = lines.find(j, j);
            T &factor = values[places[j]];
            factor /= pivot >= 0 ? values[pivot] : T{};
            for (std::int64_t k = lines.begin(j); k < lines.end(j); ++k)
                if (const std::int64_t column = lines.column(k); column > j && places[column] >= 0)
                    values[places[column]] -= factor * values[k];
        }
        const std::int64_t diagonal = places[row];
        if (diagonal >= 0 && state.boosted && std::abs(values[diagonal]) <= state.tolerance) {
            if constexpr (is_complex<T>)
                values[diagonal] = T(state.boost);
            else
                values[diagonal] = static_cast<T>(state.boost.real());
        }
        if ((diagonal < 0 || values[diagonal] == T{}) && state.zero_pivot < 0)
            state.zero_pivot = static_cast<int>(row) + lines.base;
        for (std::int64_t k = lines.begin(row); k < lines.end(row); ++k)
            places[lines.column(k)] = -1;
    }
}

/// A = L L* without new elements, in the lower triangle.
template <class T>
void incomplete_cholesky(int m, T *values, const Lines &lines, FactorState &state) {
    state.zero_pivot = -1;
    for (std::int64_t row = 0; row < m; ++row) {
        std::vector<std::pair<std::int64_t, std::int64_t>> own; // column, place
        for (std::int64_t k = lines.begin(row); k < lines.end(row); ++k)
            if (lines.column(k) <= row)
                own.emplace_back(lines.column(k), k);
        std::ranges::sort(own);
        bool has_diagonal = false;
        for (const auto &[column, place] : own) {
            T sum = values[place];
            for (const auto &[inner, at] : own) {
                if (inner >= column)
                    break;
                if (const std::int64_t other = lines.find(column, inner); other >= 0)
                    sum -= values[at] * conjugate(values[other]);
            }
            if (column < row) {
                const std::int64_t pivot = lines.find(column, column);
                values[place] = sum / (pivot >= 0 ? values[pivot] : T{});
            } else {
                has_diagonal = true;
                if (!(std::real(sum) > 0) && state.zero_pivot < 0)
                    state.zero_pivot = static_cast<int>(row) + lines.base;
                values[place] = T(std::sqrt(std::real(sum)));
            }
        }
        if (!has_diagonal && state.zero_pivot < 0)
            state.zero_pivot = static_cast<int>(row) + lines.base;
    }
}

/// While the stream runs: throws Failure unless `lines` are those of m rows, columns and `count`
/// elements.
inline void check_lines(std::int64_t m, std::int64_t count, const Lines &lines) {
    for (std::int64_t row = 0; row < m; ++row)
        if (lines.begin(row) < 0 || lines.end(row) < lines.begin(row) || lines.end(row) > count)
            throw Failure(statuses.execution_failed, "offsets outside of the matrix");
    for (std::int64_t k = 0; k < count; ++k)
        if (lines.column(k) < 0 || lines.column(k) >= m)
            throw Failure(statuses.execution_failed, "an index is outside of the matrix");
}

} // namespace softcusparse
