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

#include <numeric>

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
BandFactors<T>::BandFactors(Factors factors, const Csr<T> &a, int count, T shift)
    : factors_(factors), n_(a.n) {
    check_csr(n_, n_, count, a.rows, a.columns, a.base);
    order_ = reverse_cuthill_mckee(n_, a.rows, a.columns, a.base);
    std::vector<int> place(order_.size());
    for (int k = 0; k < n_; ++k)
        place[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])] = k;
    const auto elements = [&](auto action) {
        for (int row = 0; row < n_; ++row)
            for (int k = a.rows[row] - a.base; k < a.rows[row + 1] - a.base; ++k)
                action(place[static_cast<std::size_t>(row)],
                       place[static_cast<std::size_t>(a.columns[k] - a.base)], a.values[k]);
    };
    elements([&](int i, int j, const T &) {
        below_ = std::max(below_, i - j);
        above_ = std::max(above_, j - i);
    });
    const bool is_lu = factors == Factors::Lu;
    // Row exchanges of LU need `below` more rows above.
    diagonal_ = is_lu ? below_ + above_ : 0;
    lead_ = diagonal_ + below_ + 1;
    band_.resize(static_cast<std::size_t>(lead_) * static_cast<std::size_t>(n_));
    elements([&](int i, int j, const T &value) {
        if (is_lu || i >= j)
            band_[index(i, j)] += value;
    });
    for (int k = 0; k < n_; ++k)
        band_[index(k, k)] -= shift;
    int info = 0;
    pivots_.resize(order_.size());
    if (n_ > 0 && is_lu)
        lapack<"?gbtrf", T>(&n_, &n_, &below_, &above_, band_.data(), &lead_, pivots_.data(),
                            &info);
    else if (n_ > 0)
        lapack<"?pbtrf", T>("L", &n_, &below_, band_.data(), &lead_, &info);
    failed_ = info > 0 ? info - 1 : -1;
}

template <class T> int BandFactors<T>::zero_pivot(double tolerance) const {
    if (failed_ >= 0)
        return failed_;
    for (int k = 0; k < n_; ++k)
        if (!(static_cast<double>(std::abs(at(k, k))) > tolerance))
            return k;
    return -1;
}

template <class T> void BandFactors<T>::solve(const T *b, T *x) const {
    std::vector<T> y;
    y.reserve(order_.size());
    for (const int row : order_)
        y.push_back(b[row]);
    const int one = 1;
    int info = 0;
    if (n_ > 0 && factors_ == Factors::Lu)
        lapack<"?gbtrs", T>("N", &n_, &below_, &above_, &one, band_.data(), &lead_, pivots_.data(),
                            y.data(), &n_, &info);
    else if (n_ > 0)
        lapack<"?pbtrs", T>("L", &n_, &below_, &one, band_.data(), &lead_, y.data(), &n_, &info);
    for (std::size_t k = 0; k < y.size(); ++k)
        x[order_[k]] = y[k];
}

template <class T> std::vector<int> BandFactors<T>::exchanged() const {
    std::vector<int> rows(order_.size());
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t k = 0; k < rows.size(); ++k)
        std::swap(rows[k], rows[static_cast<std::size_t>(pivots_[k] - 1)]);
    return rows;
}

template <class T> std::vector<int> BandFactors<T>::p() const {
    std::vector<int> rows = exchanged();
    for (int &row : rows)
        row = order_[static_cast<std::size_t>(row)];
    return rows;
}

// LAPACK exchanges the rows of U, but leaves L's elements where they were when their column was
// eliminated. An element of L belongs to the row that was at its place then.
template <class T> BandTriangles<T> BandFactors<T>::triangles() const {
    const auto n = static_cast<std::size_t>(n_);
    BandTriangles<T> found{std::vector<std::vector<std::pair<int, T>>>(n),
                           std::vector<std::vector<std::pair<int, T>>>(n)};
    const std::vector<int> last = exchanged();
    std::vector<std::size_t> place(n); // of each row after all exchanges
    for (std::size_t k = 0; k < n; ++k)
        place[static_cast<std::size_t>(last[k])] = k;
    std::vector<int> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    for (int k = 0; k < n_; ++k) {
        const auto own = static_cast<std::size_t>(k);
        std::swap(rows[own], rows[static_cast<std::size_t>(pivots_[own] - 1)]);
        for (int i = k + 1; i < std::min(n_, k + below_ + 1); ++i)
            if (at(i, k) != T{})
                found.lower[place[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])]]
                    .emplace_back(k, at(i, k));
        for (int j = k; j < std::min(n_, k + below_ + above_ + 1); ++j)
            if (j == k || at(k, j) != T{})
                found.upper[own].emplace_back(j, at(k, j));
    }
    return found;
}

template class BandFactors<float>;
template class BandFactors<double>;
template class BandFactors<Complex>;
template class BandFactors<DoubleComplex>;

} // namespace softcusolver
