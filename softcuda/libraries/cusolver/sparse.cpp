// sparse.cpp -- cuSOLVER's solutions of sparse systems: cusolverSp...
//
// LU and QR have the results of LU with row exchanges. All orders (symrcm, symamd, ...) are reverse
// Cuthill and McKee's, and each solution uses this order.
#include "sparse.h"

#include <cmath>
#include <utility>

namespace softcusolver {
namespace {

template <class T>
void solve(const SparseCall &call, Factors factors, Place place, int n, int count,
           Descriptor descriptor, const T *values, const int *rows, const int *columns, const T *b,
           double tolerance, int reorder, T *x, int *singularity) {
    require(reorder >= 0 && reorder <= 3 && singularity != nullptr, "reorder, singularity");
    const Csr<T> a = matrix_at(call, place, n, count, descriptor, values, rows, columns);
    check_at(call, place, b, n, "b");
    check_at(call, place, x, n, "x");
    run_at(call, place, [=] {
        const BandFactors<T> found(factors, a, count);
        *singularity = found.zero_pivot(tolerance);
        if (*singularity < 0)
            found.solve(b, x);
    });
}

/// The eigenvalue of A next to `shift`, and its vector, by inverse iteration from x0.
template <class T>
T nearest_eigenvalue(const Csr<T> &a, int count, T shift, const T *x0, int most, Real<T> tolerance,
                     T *x) {
    const BandFactors<T> inverse(Factors::Lu, a, count, shift);
    if (inverse.zero_pivot(0) >= 0)
        throw Failure(statuses.execution_failed, "A - mu0 I is singular");
    std::copy(x0, x0 + a.n, x);
    T found = shift;
    std::vector<T> y(static_cast<std::size_t>(a.n));
    for (int step = 0; step < most; ++step) {
        inverse.solve(x, y.data());
        T along{};
        Real<T> of_x = 0, of_y = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            if constexpr (is_complex<T>)
                along += std::conj(x[i]) * y[i];
            else
                along += x[i] * y[i];
            of_x += std::norm(x[i]);
            of_y += std::norm(y[i]);
        }
        const T before = std::exchange(found, shift + of_x / along);
        for (std::size_t i = 0; i < y.size(); ++i)
            x[i] = y[i] / std::sqrt(of_y);
        if (std::abs(found - before) <= tolerance)
            break;
    }
    return found;
}

template <class T>
void find_eigenvalue(const SparseCall &call, Place place, int n, int count, Descriptor descriptor,
                     const T *values, const int *rows, const int *columns, T shift, const T *x0,
                     int most, Real<T> tolerance, T *eigenvalue, T *x) {
    require(most >= 1 && eigenvalue != nullptr, "maxite, mu");
    const Csr<T> a = matrix_at(call, place, n, count, descriptor, values, rows, columns);
    check_at(call, place, x0, n, "x0");
    check_at(call, place, x, n, "x");
    run_at(call, place,
           [=] { *eigenvalue = nearest_eigenvalue(a, count, shift, x0, most, tolerance, x); });
}

void order_rows(int n, int count, Descriptor descriptor, const int *rows, const int *columns,
                int *order) {
    const int base = base_of(descriptor);
    require(n >= 0 && count >= 0, "n, nnz");
    check_host(rows, Count(n) + 1, "csrRowPtr");
    check_host(columns, count, "csrColInd");
    check_host(order, n, "p");
    check_csr(n, n, count, rows, columns, base);
    const std::vector<int> found = reverse_cuthill_mckee(n, rows, columns, base);
    std::copy(found.begin(), found.end(), order);
}

/// Puts row p[i] to place i and column q[j] to place j. `map` moves with the elements.
void permute(int m, int n, int count, Descriptor descriptor, int *rows, int *columns, const int *p,
             const int *q, int *map) {
    const int base = base_of(descriptor);
    require(m >= 0 && n >= 0 && count >= 0, "m, n, nnz");
    check_host(rows, Count(m) + 1, "csrRowPtr");
    check_host(columns, count, "csrColInd");
    check_host(p, m, "p");
    check_host(q, n, "q");
    check_host(map, count, "map");
    check_csr(m, n, count, rows, columns, base);
    const auto is_order = [](const int *order, int size) {
        std::vector<char> seen(static_cast<std::size_t>(size));
        return std::all_of(order, order + size, [&](int place) {
            return place >= 0 && place < size &&
                   !std::exchange(seen[static_cast<std::size_t>(place)], char{1});
        });
    };
    require(is_order(p, m) && is_order(q, n), "orders of rows and columns");
    std::vector<int> place(static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j)
        place[static_cast<std::size_t>(q[j])] = j;
    const std::vector<int> old_rows(rows, rows + m + 1), old_columns(columns, columns + count);
    const std::vector<int> old_map(map, map + count);
    std::vector<std::pair<int, int>> row; // new column, old place
    int next = 0;
    for (int i = 0; i < m; ++i) {
        row.clear();
        const auto from = static_cast<std::size_t>(p[i]);
        for (int k = old_rows[from] - base; k < old_rows[from + 1] - base; ++k)
            row.emplace_back(
                place[static_cast<std::size_t>(old_columns[static_cast<std::size_t>(k)] - base)],
                k);
        std::sort(row.begin(), row.end());
        rows[i] = next + base;
        for (const auto &[column, k] : row) {
            columns[next] = column + base;
            map[next++] = old_map[static_cast<std::size_t>(k)];
        }
    }
    rows[m] = next + base;
}

bool has_symmetric_pattern(int n, int count, const int *rows, const int *ends, const int *columns,
                           int base) {
    require(n >= 0 && count >= 0, "n, nnz");
    check_host(rows, n, "csrRowPtr");
    check_host(ends, n, "csrEndPtr");
    check_host(columns, count, "csrColInd");
    std::vector<std::pair<int, int>> elements, transposed;
    for (int i = 0; i < n; ++i)
        for (std::int64_t k = std::int64_t{rows[i]} - base; k < std::int64_t{ends[i]} - base; ++k) {
            require(k >= 0 && k < count, "the offsets");
            elements.emplace_back(i, columns[k] - base);
            transposed.emplace_back(columns[k] - base, i);
        }
    std::sort(elements.begin(), elements.end());
    std::sort(transposed.begin(), transposed.end());
    return elements == transposed;
}

} // namespace
} // namespace softcusolver

using softcusolver::Complex;
using softcusolver::Descriptor;
using softcusolver::DoubleComplex;
using softcusolver::Factors;
using softcusolver::Place;
using softcusolver::Real;
using softcusolver::SparseCall;
using softcusolver::SparseHandle;

using softlib::require;

SOFTLIB_HANDLE_LIFE(SparseCall, SparseHandle, cusolverSp, )
SOFTLIB_HANDLE_STREAM(SparseCall, SparseHandle, cusolverSp, )

#define SOLVE(S, T, name, factors, place)                                                          \
    SPARSE_DEFINE(S##csrlsv##name,                                                                 \
                  (SparseHandle handle, int n, int count, Descriptor descriptor, const T *values,  \
                   const int *rows, const int *columns, const T *b, Real<T> tolerance,             \
                   int reorder, T *x, int *singularity),                                           \
                  softcusolver::solve(call, factors, place, n, count, descriptor, values, rows,    \
                                      columns, b, tolerance, reorder, x, singularity))
#define EIGENVALUE(S, T, name, place)                                                              \
    SPARSE_DEFINE(S##csreigvsi##name,                                                              \
                  (SparseHandle handle, int n, int count, Descriptor descriptor, const T *values,  \
                   const int *rows, const int *columns, T shift, const T *x0, int most,            \
                   Real<T> tolerance, T *eigenvalue, T *x),                                        \
                  softcusolver::find_eigenvalue(call, place, n, count, descriptor, values, rows,   \
                                                columns, shift, x0, most, tolerance, eigenvalue,   \
                                                x))
#define FOR_ALL(S, T)                                                                              \
    EIGENVALUE(S, T, , Place::Device)                                                              \
    EIGENVALUE(S, T, Host, Place::Host)                                                            \
    SOLVE(S, T, qr, Factors::Lu, Place::Device)                                                    \
    SOLVE(S, T, qrHost, Factors::Lu, Place::Host)                                                  \
    SOLVE(S, T, luHost, Factors::Lu, Place::Host)                                                  \
    SOLVE(S, T, chol, Factors::Cholesky, Place::Device)                                            \
    SOLVE(S, T, cholHost, Factors::Cholesky, Place::Host)
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)

#define ORDER(name)                                                                                \
    SPARSE_DEFINE(Xcsrsym##name##Host,                                                             \
                  (SparseHandle handle, int n, int count, Descriptor descriptor, const int *rows,  \
                   const int *columns, int *order),                                                \
                  softcusolver::order_rows(n, count, descriptor, rows, columns, order))
ORDER(rcm)
ORDER(mdq)
ORDER(amd)
SPARSE_DEFINE(XcsrmetisndHost,
              (SparseHandle handle, int n, int count, Descriptor descriptor, const int *rows,
               const int *columns, const std::int64_t *, int *order),
              softcusolver::order_rows(n, count, descriptor, rows, columns, order))
SPARSE_DEFINE(Xcsrperm_bufferSizeHost,
              (SparseHandle handle, int, int, int, Descriptor, const int *, const int *,
               const int *, const int *, std::size_t *size),
              {
                  require(size != nullptr, "the size's address");
                  *size = 1;
              })
SPARSE_DEFINE(XcsrpermHost,
              (SparseHandle handle, int m, int n, int count, Descriptor descriptor, int *rows,
               int *columns, const int *p, const int *q, int *map, void *),
              softcusolver::permute(m, n, count, descriptor, rows, columns, p, q, map))
SPARSE_DEFINE(XcsrissymHost,
              (SparseHandle handle, int n, int count, Descriptor descriptor, const int *rows,
               const int *ends, const int *columns, int *symmetric),
              {
                  require(symmetric != nullptr, "issym");
                  *symmetric = softcusolver::has_symmetric_pattern(
                                   n, count, rows, ends, columns, softcusolver::base_of(descriptor))
                                   ? 1
                                   : 0;
              })
