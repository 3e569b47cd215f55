// factors.cpp -- tridiagonal and pentadiagonal equations, and incomplete factors of sparse
// matrices.
#include "factor_info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace softcusparse {
namespace {

using Shared = std::shared_ptr<void>;

/// Equations with one tridiagonal matrix and several right sides, as LAPACK's gtsv solves them.
template <class T>
void tridiagonal(const Call &call, int m, int n, const T *lower, const T *diagonal, const T *upper,
                 T *b, int ldb, int batch, std::int64_t stride, std::int64_t stride_of_b) {
    require(m >= 0 && n >= 0 && ldb >= std::max(m, 1) && batch >= 0 && stride >= 0,
            "the sizes and the strides");
    if (m == 0 || n == 0 || batch == 0)
        return;
    const std::int64_t last = (batch - 1) * stride + m;
    call.check(lower, last, "dl");
    call.check(diagonal, last, "d");
    call.check(upper, last, "du");
    call.check(b, (batch - 1) * stride_of_b + std::int64_t{n - 1} * ldb + m, "B");
    call.enqueue(20.0 * m * n * batch, [=] {
        std::vector<T> low(m), main(m), high(m);
        for (int i = 0; i < batch; ++i) {
            // dl[0] and du[m - 1] are not part of the matrix.
            std::copy_n(lower + i * stride + 1, m - 1, low.begin());
            std::copy_n(diagonal + i * stride, m, main.begin());
            std::copy_n(upper + i * stride, m - 1, high.begin());
            int info = 0;
            softlib::lapack<"?gtsv", T>(&m, &n, low.data(), main.data(), high.data(),
                                        b + i * stride_of_b, &ldb, &info);
        }
    });
}

/// Equations whose matrix has elements on its diagonals only, solved with row exchanges. Element
/// i of a diagonal is in row i; the diagonals begin with the lowest one. Element i of item k of a
/// batch is at i * batch + k.
template <class T, std::size_t Count>
void interleaved(const Call &call, int algorithm, int last_algorithm, int m,
                 const T *const (&diagonals)[Count], T *x, int batch) {
    require(algorithm >= 0 && algorithm <= last_algorithm, "algo");
    require(m >= 0 && batch >= 0, "m, batchCount");
    for (const T *diagonal : diagonals)
        call.check(diagonal, std::int64_t{m} * batch, "a diagonal");
    call.check(x, std::int64_t{m} * batch, "x");
    if (m == 0)
        return;
    call.enqueue(100.0 * m * batch, [=, diagonals = std::to_array(diagonals)] {
        const int width = Count / 2, lead = 3 * width + 1, one = 1;
        std::vector<T> band(static_cast<std::size_t>(lead) * m), own(m);
        std::vector<int> pivots(m);
        for (std::int64_t item = 0; item < batch; ++item) {
            std::ranges::fill(band, T{});
            for (std::int64_t i = 0; i < m; ++i) {
                own[i] = x[i * batch + item];
                for (std::int64_t place = 0; place < static_cast<std::int64_t>(Count); ++place)
                    if (const std::int64_t j = i + place - width; j >= 0 && j < m)
                        band[j * lead + 2 * width + i - j] = diagonals[place][i * batch + item];
            }
            int info = 0;
            softlib::lapack<"?gbsv", T>(&m, &width, &width, &one, band.data(), &lead, pivots.data(),
                                        own.data(), &m, &info);
            if (info > 0)
                std::ranges::fill(own, T{std::numeric_limits<Real<T>>::quiet_NaN()});
            for (std::int64_t i = 0; i < m; ++i)
                x[i * batch + item] = own[i];
        }
    });
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

template <class T, class Method>
void factor(const Call &call, int m, int count, const LegacyDescription *description, T *values,
            const int *offsets, const int *indices, Info info, Method method) {
    require(m >= 0 && count >= 0 && description != nullptr && info != nullptr,
            "the sizes, the descriptor and the info");
    call.check(values, count, "A");
    call.check(offsets, m + 1, "A");
    call.check(indices, count, "A");
    const Lines lines{offsets, indices, description->base};
    call.enqueue(100.0 * count, [=, state = info->state] {
        for (std::int64_t row = 0; row < m; ++row)
            if (lines.begin(row) < 0 || lines.end(row) < lines.begin(row) || lines.end(row) > count)
                throw Failure(statuses.execution_failed, "offsets outside of the matrix");
        for (std::int64_t k = 0; k < count; ++k)
            if (lines.column(k) < 0 || lines.column(k) >= m)
                throw Failure(statuses.execution_failed, "an index is outside of the matrix");
        method(m, values, lines, *state);
    });
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

#define TRIDIAGONAL(letter, T)                                                                     \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2_bufferSizeExt,                                         \
                    (Handle handle, int, int, const T *, const T *, const T *, const T *, int,     \
                     std::size_t *size),                                                           \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2_nopivot_bufferSizeExt,                                 \
                    (Handle handle, int, int, const T *, const T *, const T *, const T *, int,     \
                     std::size_t *size),                                                           \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2StridedBatch_bufferSizeExt,                             \
                    (Handle handle, int, const T *, const T *, const T *, const T *, int, int,     \
                     std::size_t *size),                                                           \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2,                                                       \
                    (Handle handle, int m, int n, const T *dl, const T *d, const T *du, T *b,      \
                     int ldb, void *),                                                             \
                    tridiagonal(call, m, n, dl, d, du, b, ldb, 1, 0, 0))                           \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2_nopivot,                                               \
                    (Handle handle, int m, int n, const T *dl, const T *d, const T *du, T *b,      \
                     int ldb, void *),                                                             \
                    tridiagonal(call, m, n, dl, d, du, b, ldb, 1, 0, 0))                           \
    CUSPARSE_DEFINE(cusparse##letter##gtsv2StridedBatch,                                           \
                    (Handle handle, int m, const T *dl, const T *d, const T *du, T *x, int batch,  \
                     int stride, void *),                                                          \
                    tridiagonal(call, m, 1, dl, d, du, x, std::max(m, 1), batch, stride, stride))  \
    CUSPARSE_DEFINE(cusparse##letter##gtsvInterleavedBatch_bufferSizeExt,                          \
                    (Handle handle, int, int, const T *, const T *, const T *, const T *, int,     \
                     std::size_t *size),                                                           \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##gpsvInterleavedBatch_bufferSizeExt,                          \
                    (Handle handle, int, int, const T *, const T *, const T *, const T *,          \
                     const T *, const T *, int, std::size_t *size),                                \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##gtsvInterleavedBatch,                                                    \
        (Handle handle, int algorithm, int m, T *dl, T *d, T *du, T *x, int batch, void *),        \
        const T *diagonals[] = {dl, d, du};                                                        \
        interleaved(call, algorithm, 2, m, diagonals, x, batch))                                   \
    CUSPARSE_DEFINE(cusparse##letter##gpsvInterleavedBatch,                                        \
                    (Handle handle, int algorithm, int m, T *ds, T *dl, T *d, T *du, T *dw, T *x,  \
                     int batch, void *),                                                           \
                    const T *diagonals[] = {ds, dl, d, du, dw};                                    \
                    interleaved(call, algorithm, 0, m, diagonals, x, batch))
TRIDIAGONAL(S, float)
TRIDIAGONAL(D, double)
TRIDIAGONAL(C, Complex)
TRIDIAGONAL(Z, DoubleComplex)

SOFTCUSPARSE_INFO(Csrilu02, csrilu02)
SOFTCUSPARSE_INFO(Csric02, csric02)

#define FACTOR(letter, T, name, method)                                                            \
    CUSPARSE_DEFINE(cusparse##letter##name##_bufferSize,                                           \
                    (Handle handle, int, int, const LegacyDescription *, T *, const int *,         \
                     const int *, Info, int *size),                                                \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##name##_bufferSizeExt,                                        \
                    (Handle handle, int, int, const LegacyDescription *, T *, const int *,         \
                     const int *, Info, std::size_t *size),                                        \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(cusparse##letter##name##_analysis,                                             \
                    (Handle handle, int, int, const LegacyDescription *, const T *, const int *,   \
                     const int *, Info info, int, void *),                                         \
                    require(info != nullptr, "info"))                                              \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##name,                                                                    \
        (Handle handle, int m, int count, const LegacyDescription *description, T *values,         \
         const int *offsets, const int *indices, Info info, int, void *),                          \
        factor(call, m, count, description, values, offsets, indices, info, method<T>))
#define FACTORS(letter, T)                                                                         \
    FACTOR(letter, T, csrilu02, incomplete_lu)                                                     \
    FACTOR(letter, T, csric02, incomplete_cholesky)                                                \
    CUSPARSE_DEFINE(cusparse##letter##csrilu02_numericBoost,                                       \
                    (Handle handle, Info info, int enabled, double *tolerance, T *boost), {        \
                        require(info != nullptr, "info");                                          \
                        info->state->boosted = enabled != 0;                                       \
                        if (!info->state->boosted)                                                 \
                            return;                                                                \
                        require(tolerance != nullptr && boost != nullptr, "tol and boost_val");    \
                        info->state->tolerance = *tolerance;                                       \
                        info->state->boost = DoubleComplex(*boost);                                \
                    })
FACTORS(S, float)
FACTORS(D, double)
FACTORS(C, Complex)
FACTORS(Z, DoubleComplex)
