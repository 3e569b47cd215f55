// factors.cpp -- tridiagonal and pentadiagonal equations, and incomplete factors of sparse
// matrices.
#include "incomplete.h"

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
    require(m >= 0 && n >= 0 && ldb >= std::max(m, 1) && batch >= 0 &&
                (batch <= 1 || (stride >= m && stride_of_b >= m)),
            "the sizes and the strides");
    if (m == 0 || n == 0 || batch == 0)
        return;
    const std::int64_t last = (batch - 1) * stride + m;
    call.check(lower, last, "dl");
    call.check(diagonal, last, "d");
    call.check(upper, last, "du");
    call.check(b, extent_of_batch(extent(m, n, ldb), stride_of_b, batch), "B");
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

template <class T, class Method>
void factor(const Call &call, int m, int count, const LegacyDescription *description, T *values,
            const int *offsets, const int *indices, Info info, Method method) {
    require(m >= 0 && count >= 0 && description != nullptr && info != nullptr,
            "the sizes, the descriptor and the info");
    call.check(values, count, "A");
    call.check(offsets, Count(m) + 1, "A");
    call.check(indices, count, "A");
    const Lines lines{offsets, indices, description->base};
    call.enqueue(100.0 * count, [=, state = info->state] {
        check_lines(m, count, lines);
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
                    (Handle handle, Info info, int enabled, double *tolerance, T *boost),          \
                    set_boost(info, enabled, tolerance, boost))
FACTORS(S, float)
FACTORS(D, double)
FACTORS(C, Complex)
FACTORS(Z, DoubleComplex)
