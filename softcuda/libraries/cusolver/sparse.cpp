// sparse.cpp -- cuSOLVER's solutions of sparse systems: cusolverSp...
//
// LU and QR have the results of LU with row exchanges. All orders (symrcm, symamd, ...) are reverse
// Cuthill and McKee's, and each solution uses this order.
#include "../common/legacy_matrix.h"
#include "ordering.h"

#include <utility>

/// cusolverSpHandle_t points to it.
struct cusolverSpContext {
    static constexpr std::uint32_t alive = 0x5c5a5e;
    static constexpr bool needs_openblas = true;

    std::uint32_t state = alive;
    softlib::Session session;
};

namespace softcusolver {
namespace {

using SparseHandle = cusolverSpContext *;
using SparseCall = softlib::HandleCall<cusolverSpContext>;
using Descriptor = const cusparseMatDescr *;

enum class Place { Device, Host };

int base_of(Descriptor descriptor) {
    require(descriptor != nullptr, "descriptor");
    if (descriptor->type != 0)
        throw Failure(8, ""); // CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED
    return descriptor->base;
}

/// A system with its matrix, at addresses of the host.
template <class T>
int solve_on_host(Factors factors, const Csr<T> &a, int count, const T *b, double tolerance, T *x) {
    check_csr(a.n, a.n, count, a.rows, a.columns, a.base);
    return solve_sparse(factors, a, b, tolerance, x);
}

template <class T>
void solve(const SparseCall &call, Factors factors, Place place, int n, int count,
           Descriptor descriptor, const T *values, const int *rows, const int *columns, const T *b,
           double tolerance, int reorder, T *x, int *singularity) {
    const Csr<T> a = {n, rows, columns, values, base_of(descriptor)};
    require(n >= 0 && count >= 0 && reorder >= 0 && reorder <= 3, "n, nnz, reorder");
    require(singularity != nullptr, "singularity");
    if (place == Place::Host) {
        require(rows != nullptr && (n == 0 || (b != nullptr && x != nullptr)) &&
                    (count == 0 || (values != nullptr && columns != nullptr)),
                "addresses");
        *singularity = solve_on_host(factors, a, count, b, tolerance, x);
        return;
    }
    call.check(rows, std::int64_t{n} + 1, "csrRowPtr");
    call.check(columns, count, "csrColInd");
    call.check(values, count, "csrVal");
    call.check(b, n, "b");
    call.check(x, n, "x");
    call.run([=] { *singularity = solve_on_host(factors, a, count, b, tolerance, x); });
}

void order_rows(int n, int count, Descriptor descriptor, const int *rows, const int *columns,
                int *order) {
    const int base = base_of(descriptor);
    require(n >= 0 && count >= 0 && rows != nullptr && (n == 0 || order != nullptr) &&
                (count == 0 || columns != nullptr),
            "n, nnz, addresses");
    check_csr(n, n, count, rows, columns, base);
    const std::vector<int> found = reverse_cuthill_mckee(n, rows, columns, base);
    std::copy(found.begin(), found.end(), order);
}

/// Puts row p[i] to place i and column q[j] to place j. `map` moves with the elements.
void permute(int m, int n, int count, Descriptor descriptor, int *rows, int *columns, const int *p,
             const int *q, int *map) {
    const int base = base_of(descriptor);
    require(m >= 0 && n >= 0 && count >= 0 && rows != nullptr, "m, n, nnz, addresses");
    require((m == 0 || p != nullptr) && (n == 0 || q != nullptr) &&
                (count == 0 || (columns != nullptr && map != nullptr)),
            "addresses");
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

bool has_symmetric_pattern(int n, const int *rows, const int *ends, const int *columns, int base) {
    std::vector<std::pair<int, int>> elements, transposed;
    for (int i = 0; i < n; ++i)
        for (int k = rows[i] - base; k < ends[i] - base; ++k) {
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

#define SPARSE_DEFINE(name, parameters, ...)                                                       \
    SOFTLIB_HANDLE_FUNCTION(SparseCall, cusolverSp##name, parameters, __VA_ARGS__)

SOFTLIB_HANDLE_LIFE(SparseCall, SparseHandle, cusolverSp, )
SOFTLIB_HANDLE_STREAM(SparseCall, SparseHandle, cusolverSp, )

#define SOLVE(S, T, name, factors, place)                                                          \
    SPARSE_DEFINE(S##csrlsv##name,                                                                 \
                  (SparseHandle handle, int n, int count, Descriptor descriptor, const T *values,  \
                   const int *rows, const int *columns, const T *b, Real<T> tolerance,             \
                   int reorder, T *x, int *singularity),                                           \
                  softcusolver::solve(call, factors, place, n, count, descriptor, values, rows,    \
                                      columns, b, tolerance, reorder, x, singularity))
#define FOR_ALL(S, T)                                                                              \
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
                  require(n >= 0 && count >= 0 && rows != nullptr && ends != nullptr &&
                              symmetric != nullptr,
                          "n, nnz, addresses");
                  *symmetric = softcusolver::has_symmetric_pattern(
                                   n, rows, ends, columns, softcusolver::base_of(descriptor))
                                   ? 1
                                   : 0;
              })
