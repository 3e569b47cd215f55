// low_level.cpp -- cuSOLVER's solutions of sparse systems in steps: cusolverSp...csrlu, csrqr,
// csrchol.
//
// The factors of all methods are band matrices (ordering.h), and QR's are those of LU. An object of
// a method holds them. The analysis checks the matrix; the buffers are not used.
#include "sparse.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <variant>

/// csrluInfoHost_t, csrqrInfoHost_t, csrqrInfo_t, csrcholInfoHost_t and csrcholInfo_t point to it.
struct SoftcusolverSparseInfo {
    static constexpr std::uint32_t alive = 0x5c5a1f0;

    template <class T> using Kept = std::shared_ptr<const softcusolver::BandFactors<T>>;

    std::uint32_t state = alive;
    std::variant<std::monostate, Kept<float>, Kept<double>, Kept<softcusolver::Complex>,
                 Kept<softcusolver::DoubleComplex>>
        factors;
};

namespace softcusolver {
namespace {

using Info = SoftcusolverSparseInfo *;

SoftcusolverSparseInfo &checked_info(Info info) {
    require(info != nullptr && info->state == SoftcusolverSparseInfo::alive, "info");
    return *info;
}

void give_sizes(std::size_t *internal, std::size_t *workspace) {
    require(internal != nullptr && workspace != nullptr, "the sizes' addresses");
    *internal = *workspace = 1;
}

/// The factors of a step before. Throws Failure if there are none, or of another type.
template <class T> std::shared_ptr<const BandFactors<T>> factors_of(Info info) {
    const auto *kept = std::get_if<SoftcusolverSparseInfo::Kept<T>>(&checked_info(info).factors);
    require(kept != nullptr, "info with the factors of this element type");
    return *kept;
}

void analyse(const SparseCall &call, Place place, int m, int n, int count, Descriptor descriptor,
             const int *rows, const int *columns, Info info) {
    checked_info(info).factors = {};
    if (m != n)
        throw Failure(statuses.not_supported, "a matrix that is not square is not supported");
    const int base = base_of(descriptor);
    require(n >= 0 && count >= 0, "n, nnz");
    check_at(call, place, rows, std::int64_t{n} + 1, "csrRowPtr");
    check_at(call, place, columns, count, "csrColInd");
    run_at(call, place, [=] { check_csr(n, n, count, rows, columns, base); });
}

template <class T>
void factor(const SparseCall &call, Factors method, Place place, int m, int n, int count,
            Descriptor descriptor, const T *values, const int *rows, const int *columns, T shift,
            Info info) {
    checked_info(info).factors = {};
    if (m != n)
        throw Failure(statuses.not_supported, "a matrix that is not square is not supported");
    const Csr<T> a = matrix_at(call, place, n, count, descriptor, values, rows, columns);
    run_at(call, place, [=] {
        info->factors = std::make_shared<const BandFactors<T>>(method, a, count, shift);
    });
}

template <class T> void find_zero_pivot(Info info, Real<T> tolerance, int *position) {
    require(position != nullptr, "position");
    *position = factors_of<T>(info)->zero_pivot(static_cast<double>(tolerance));
}

/// x = A^-1 b; all elements are NaN if A has a zero pivot.
template <class T> void solve_or_fill(const BandFactors<T> &factors, const T *b, T *x) {
    if (factors.zero_pivot(0) < 0)
        factors.solve(b, x);
    else
        std::fill(x, x + factors.n(), T{std::numeric_limits<Real<T>>::quiet_NaN()});
}

template <class T>
void solve(const SparseCall &call, Place place, int n, const T *b, T *x, Info info) {
    const auto factors = factors_of<T>(info);
    require(n == factors->n(), "the order of the factors");
    check_at(call, place, b, n, "b");
    check_at(call, place, x, n, "x");
    if (place == Place::Host)
        solve_or_fill(*factors, b, x);
    else
        call.enqueue(operations(n, 100.0), [=] { solve_or_fill(*factors, b, x); });
}

/// The factors are there since the step before; systems may be solved at once.
template <class T>
void complete(const SparseCall &call, Place place, int m, int n, const T *b, T *x, Info info) {
    require(m == n && n == factors_of<T>(info)->n(), "m, n");
    require((b == nullptr) == (x == nullptr), "b and x, or neither");
    if (b != nullptr)
        solve(call, place, n, b, x, info);
}

template <class T> void give_diagonal(const SparseCall &call, Info info, T *diagonal) {
    const auto factors = factors_of<T>(info);
    check_at(call, Place::Device, diagonal, factors->n(), "diag");
    call.enqueue(operations(factors->n()), [=] {
        for (int k = 0; k < factors->n(); ++k)
            diagonal[k] = factors->diagonal(k);
    });
}

template <class T> int count_of(const std::vector<std::vector<std::pair<int, T>>> &rows) {
    std::size_t count = 0;
    for (const auto &row : rows)
        count += row.size();
    return static_cast<int>(count);
}

void count_elements(Info info, int *lower, int *upper) {
    require(lower != nullptr && upper != nullptr, "the numbers' addresses");
    std::visit(
        [&](const auto &kept) {
            if constexpr (std::is_same_v<std::decay_t<decltype(kept)>, std::monostate>) {
                require(false, "info with factors");
            } else {
                const auto triangles = kept->triangles();
                *lower = count_of(triangles.lower);
                *upper = count_of(triangles.upper);
            }
        },
        checked_info(info).factors);
}

template <class T>
void write_csr(const std::vector<std::vector<std::pair<int, T>>> &from, int base, T *values,
               int *rows, int *columns) {
    int next = 0;
    *rows++ = base;
    for (const auto &row : from) {
        for (const auto &[column, value] : row) {
            columns[next] = column + base;
            values[next++] = value;
        }
        *rows++ = next + base;
    }
}

/// A(P, Q) = L U. The ones of L's diagonal are left out.
template <class T>
void extract(int *p, int *q, Descriptor of_l, T *values_l, int *rows_l, int *columns_l,
             Descriptor of_u, T *values_u, int *rows_u, int *columns_u, Info info) {
    const auto factors = factors_of<T>(info);
    require(p != nullptr && q != nullptr && rows_l != nullptr && rows_u != nullptr, "addresses");
    const auto triangles = factors->triangles();
    require((values_l != nullptr && columns_l != nullptr) || count_of(triangles.lower) == 0,
            "addresses of L");
    require((values_u != nullptr && columns_u != nullptr) || factors->n() == 0, "addresses of U");
    write_csr(triangles.lower, base_of(of_l), values_l, rows_l, columns_l);
    write_csr(triangles.upper, base_of(of_u), values_u, rows_u, columns_u);
    const std::vector<int> rows = factors->p();
    std::copy(rows.begin(), rows.end(), p);
    std::copy(factors->q().begin(), factors->q().end(), q);
}

/// Systems with one pattern, whose values follow each other.
template <class T>
void solve_batch(const SparseCall &call, int m, int n, int count, Descriptor descriptor,
                 const T *values, const int *rows, const int *columns, const T *b, T *x, int batch,
                 Info info) {
    checked_info(info);
    require(batch >= 1 && n >= 0 && count >= 0, "batchSize, n, nnz");
    if (m != n)
        throw Failure(statuses.not_supported, "a matrix that is not square is not supported");
    const Csr<T> a = matrix_at(call, Place::Device, n, count, descriptor, values, rows, columns);
    call.check(values, std::int64_t{batch} * count, "csrVal");
    call.check(b, std::int64_t{batch} * n, "b");
    call.check(x, std::int64_t{batch} * n, "x");
    call.enqueue(operations(batch, n, 100.0), [=] {
        Csr<T> item = a;
        for (std::ptrdiff_t i = 0; i < batch; ++i) {
            item.values = values + i * count;
            solve_or_fill(BandFactors<T>(Factors::Lu, item, count), b + i * n, x + i * n);
        }
    });
}

} // namespace
} // namespace softcusolver

using namespace softcusolver;

#define INFO(name)                                                                                 \
    SOFTLIB_FUNCTION(cusolverSpCreate##name, (Info * info), softlib::make_handle(info))            \
    SOFTLIB_FUNCTION(cusolverSpDestroy##name, (Info info), softlib::destroy(&checked_info(info)))
INFO(CsrluInfoHost)
INFO(CsrqrInfoHost)
INFO(CsrqrInfo)
INFO(CsrcholInfoHost)
INFO(CsrcholInfo)

#define SQUARE_ANALYSIS(name, place)                                                               \
    SPARSE_DEFINE(X##name,                                                                         \
                  (SparseHandle handle, int n, int count, Descriptor descriptor, const int *rows,  \
                   const int *columns, Info info),                                                 \
                  analyse(call, place, n, n, count, descriptor, rows, columns, info))
#define ANALYSIS(name, place)                                                                      \
    SPARSE_DEFINE(X##name,                                                                         \
                  (SparseHandle handle, int m, int n, int count, Descriptor descriptor,            \
                   const int *rows, const int *columns, Info info),                                \
                  analyse(call, place, m, n, count, descriptor, rows, columns, info))
SQUARE_ANALYSIS(csrluAnalysisHost, Place::Host)
SQUARE_ANALYSIS(csrcholAnalysisHost, Place::Host)
SQUARE_ANALYSIS(csrcholAnalysis, Place::Device)
ANALYSIS(csrqrAnalysisHost, Place::Host)
ANALYSIS(csrqrAnalysis, Place::Device)
ANALYSIS(csrqrAnalysisBatched, Place::Device)
SPARSE_DEFINE(XcsrluNnzHost, (SparseHandle handle, int *lower, int *upper, Info info),
              count_elements(info, lower, upper))

// What LU and Cholesky have, by names; PIVOTS is LU's further parameter.
#define SQUARE(S, T, name, suffix, method, place, PIVOTS)                                          \
    SPARSE_DEFINE(S##name##BufferInfo##suffix,                                                     \
                  (SparseHandle handle, int, int, Descriptor, const T *, const int *, const int *, \
                   Info info, std::size_t *internal, std::size_t *workspace),                      \
                  checked_info(info);                                                              \
                  give_sizes(internal, workspace))                                                 \
    SPARSE_DEFINE(                                                                                 \
        S##name##Factor##suffix,                                                                   \
        (SparseHandle handle, int n, int count, Descriptor descriptor, const T *values,            \
         const int *rows, const int *columns, Info info PIVOTS, void *),                           \
        factor<T>(call, method, place, n, n, count, descriptor, values, rows, columns, T{}, info)) \
    SPARSE_DEFINE(S##name##Solve##suffix,                                                          \
                  (SparseHandle handle, int n, const T *b, T *x, Info info, void *),               \
                  solve(call, place, n, b, x, info))                                               \
    SPARSE_DEFINE(S##name##ZeroPivot##suffix,                                                      \
                  (SparseHandle handle, Info info, Real<T> tolerance, int *position),              \
                  find_zero_pivot<T>(info, tolerance, position))
#define QR(S, T, suffix, place)                                                                    \
    SPARSE_DEFINE(S##csrqrBufferInfo##suffix,                                                      \
                  (SparseHandle handle, int, int, int, Descriptor, const T *, const int *,         \
                   const int *, Info info, std::size_t *internal, std::size_t *workspace),         \
                  checked_info(info);                                                              \
                  give_sizes(internal, workspace))                                                 \
    SPARSE_DEFINE(S##csrqrSetup##suffix,                                                           \
                  (SparseHandle handle, int m, int n, int count, Descriptor descriptor,            \
                   const T *values, const int *rows, const int *columns, T shift, Info info),      \
                  factor(call, Factors::Lu, place, m, n, count, descriptor, values, rows, columns, \
                         shift, info))                                                             \
    SPARSE_DEFINE(S##csrqrFactor##suffix,                                                          \
                  (SparseHandle handle, int m, int n, int, T *b, T *x, Info info, void *),         \
                  complete(call, place, m, n, b, x, info))                                         \
    SPARSE_DEFINE(S##csrqrSolve##suffix,                                                           \
                  (SparseHandle handle, int m, int n, T *b, T *x, Info info, void *),              \
                  require(m == n, "m, n");                                                         \
                  solve<T>(call, place, n, b, x, info))                                            \
    SPARSE_DEFINE(S##csrqrZeroPivot##suffix,                                                       \
                  (SparseHandle handle, Info info, Real<T> tolerance, int *position),              \
                  find_zero_pivot<T>(info, tolerance, position))
#define THRESHOLD(T) , Real<T>
#define NONE
#define FOR_ALL(S, T)                                                                              \
    SQUARE(S, T, csrlu, Host, Factors::Lu, Place::Host, THRESHOLD(T))                              \
    SQUARE(S, T, csrchol, Host, Factors::Cholesky, Place::Host, NONE)                              \
    SQUARE(S, T, csrchol, , Factors::Cholesky, Place::Device, NONE)                                \
    QR(S, T, Host, Place::Host)                                                                    \
    QR(S, T, , Place::Device)                                                                      \
    SPARSE_DEFINE(S##csrcholDiag, (SparseHandle handle, Info info, T * diagonal),                  \
                  give_diagonal(call, info, diagonal))                                             \
    SPARSE_DEFINE(                                                                                 \
        S##csrluExtractHost,                                                                       \
        (SparseHandle handle, int *p, int *q, Descriptor of_l, T *values_l, int *rows_l,           \
         int *columns_l, Descriptor of_u, T *values_u, int *rows_u, int *columns_u, Info info,     \
         void *),                                                                                  \
        extract(p, q, of_l, values_l, rows_l, columns_l, of_u, values_u, rows_u, columns_u, info)) \
    SPARSE_DEFINE(S##csrqrBufferInfoBatched,                                                       \
                  (SparseHandle handle, int, int, int, Descriptor, const T *, const int *,         \
                   const int *, int, Info info, std::size_t *internal, std::size_t *workspace),    \
                  checked_info(info);                                                              \
                  give_sizes(internal, workspace))                                                 \
    SPARSE_DEFINE(                                                                                 \
        S##csrqrsvBatched,                                                                         \
        (SparseHandle handle, int m, int n, int count, Descriptor descriptor, const T *values,     \
         const int *rows, const int *columns, const T *b, T *x, int batch, Info info, void *),     \
        solve_batch(call, m, n, count, descriptor, values, rows, columns, b, x, batch, info))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)
