// ordering.cpp -- reverse Cuthill and McKee's order, and LAPACK's band matrices.
//
// Rows are visited from one end of the matrix's graph to the other, those with few neighbours
// first. The neighbours of a row then have near numbers, so that all elements are near the
// diagonal:
//
//     x . . x          x x . .
//     . x x .    to    x x . .
//     . x x .          . . x x
//     x . . x          . . x x
#include "ordering.h"

#include <utility>

namespace softcusolver {
namespace {

/// The neighbours of each row in the graph of A + A^T, without the row itself.
std::vector<std::vector<int>> neighbours_of(int n, const int *rows, const int *columns, int base) {
    std::vector<std::vector<int>> found(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i)
        for (int k = rows[i] - base; k < rows[i + 1] - base; ++k) {
            const int j = columns[k] - base;
            if (i == j)
                continue;
            found[static_cast<std::size_t>(i)].push_back(j);
            found[static_cast<std::size_t>(j)].push_back(i);
        }
    for (auto &list : found) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return found;
}

/// Appends the rows that are connected with `start` to `order`, by their distances.
void visit(const std::vector<std::vector<int>> &neighbours, int start, std::vector<char> &seen,
           std::vector<int> &order) {
    const auto degree = [&](int row) { return neighbours[static_cast<std::size_t>(row)].size(); };
    std::size_t next = order.size();
    order.push_back(start);
    seen[static_cast<std::size_t>(start)] = 1;
    for (; next < order.size(); ++next) {
        const std::size_t first = order.size();
        for (const int row : neighbours[static_cast<std::size_t>(order[next])])
            if (!std::exchange(seen[static_cast<std::size_t>(row)], char{1}))
                order.push_back(row);
        std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(first), order.end(),
                         [&](int a, int b) { return degree(a) < degree(b); });
    }
}

/// A row at an end of the graph: the last one that is visited from the last one that is visited.
int end_of_graph(const std::vector<std::vector<int>> &neighbours, int start,
                 std::vector<char> &seen) {
    for (int times = 0; times < 2; ++times) {
        std::vector<int> order;
        visit(neighbours, start, seen, order);
        for (const int row : order)
            seen[static_cast<std::size_t>(row)] = 0;
        start = order.back();
    }
    return start;
}

template <class T>
int solve_band(Factors factors, const Csr<T> &a, const std::vector<int> &order, double tolerance,
               std::vector<T> &x) {
    const int n = a.n;
    std::vector<int> place(static_cast<std::size_t>(n));
    for (int k = 0; k < n; ++k)
        place[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])] = k;
    const auto each = [&](auto action) {
        for (int row = 0; row < n; ++row)
            for (int k = a.rows[row] - a.base; k < a.rows[row + 1] - a.base; ++k)
                action(place[static_cast<std::size_t>(row)],
                       place[static_cast<std::size_t>(a.columns[k] - a.base)], a.values[k]);
    };
    int below = 0, above = 0;
    each([&](int i, int j, const T &) {
        below = std::max(below, i - j);
        above = std::max(above, j - i);
    });
    const bool is_lu = factors == Factors::Lu;
    // Row exchanges of LU need `below` more rows above.
    const int diagonal = is_lu ? below + above : 0, lead = diagonal + below + 1, one = 1;
    std::vector<T> band(static_cast<std::size_t>(lead) * static_cast<std::size_t>(n));
    const auto at = [&](int i, int j) -> T & {
        return band[static_cast<std::size_t>(diagonal + i - j) +
                    static_cast<std::size_t>(j) * static_cast<std::size_t>(lead)];
    };
    each([&](int i, int j, const T &value) {
        if (is_lu || i >= j)
            at(i, j) += value;
    });
    int info = 0;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    if (is_lu)
        lapack<"?gbtrf", T>(&n, &n, &below, &above, band.data(), &lead, pivots.data(), &info);
    else
        lapack<"?pbtrf", T>("L", &n, &below, band.data(), &lead, &info);
    if (info > 0)
        return info - 1;
    for (int k = 0; k < n; ++k)
        if (!(static_cast<double>(std::abs(at(k, k))) > tolerance))
            return k;
    if (is_lu)
        lapack<"?gbtrs", T>("N", &n, &below, &above, &one, band.data(), &lead, pivots.data(),
                            x.data(), &n, &info);
    else
        lapack<"?pbtrs", T>("L", &n, &below, &one, band.data(), &lead, x.data(), &n, &info);
    return -1;
}

} // namespace

void check_csr(int n, int columns, int count, const int *rows, const int *indices, int base) {
    require(n == 0 || rows[0] == base, "the first offset");
    for (int i = 0; i < n; ++i)
        require(rows[i] <= rows[i + 1], "ascending offsets");
    require(n == 0 || rows[n] - base == count, "the last offset");
    for (int k = 0; k < count; ++k)
        require(indices[k] >= base && indices[k] - base < columns, "column indices");
}

std::vector<int> reverse_cuthill_mckee(int n, const int *rows, const int *columns, int base) {
    const std::vector<std::vector<int>> neighbours = neighbours_of(n, rows, columns, base);
    std::vector<char> seen(static_cast<std::size_t>(n));
    std::vector<int> order;
    order.reserve(static_cast<std::size_t>(n));
    for (int row = 0; row < n; ++row) {
        if (seen[static_cast<std::size_t>(row)])
            continue;
        visit(neighbours, end_of_graph(neighbours, row, seen), seen, order);
    }
    std::reverse(order.begin(), order.end());
    return order;
}

template <class T>
int solve_sparse(Factors factors, const Csr<T> &a, const T *b, double tolerance, T *x) {
    const std::vector<int> order = reverse_cuthill_mckee(a.n, a.rows, a.columns, a.base);
    std::vector<T> solution;
    solution.reserve(order.size());
    for (const int row : order)
        solution.push_back(b[row]);
    const int singular = a.n == 0 ? -1 : solve_band(factors, a, order, tolerance, solution);
    for (std::size_t k = 0; singular < 0 && k < order.size(); ++k)
        x[order[k]] = solution[k];
    return singular;
}

#define INSTANTIATE(T) template int solve_sparse(Factors, const Csr<T> &, const T *, double, T *);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(Complex)
INSTANTIATE(DoubleComplex)

} // namespace softcusolver
