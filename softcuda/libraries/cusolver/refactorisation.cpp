// refactorisation.cpp -- elimination with a kept pattern, row by row.
//
// Row i is finished by the rows above it. For each element m(i, k) left of the diagonal, from left
// to right, the multiple of row k that removes the element is subtracted:
//
//     k       x x . x         l(i, k) = m(i, k) / m(k, k)       with ones on L's diagonal
//     i  ->   x . x x         row i  -= l(i, k) * row k, right of k
//
// Row k's element (k, j) makes (i, j) an element of the pattern, too.
#include "refactorisation.h"

#include "ordering.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>

namespace softcusolver {
namespace {

/// The inverse of an order of n numbers. Throws Failure(invalid value) for any other array.
std::vector<int> inverse_of(const int *order, int n) {
    std::vector<int> inverse(static_cast<std::size_t>(n), -1);
    for (int i = 0; i < n; ++i) {
        require(order[i] >= 0 && order[i] < n && inverse[static_cast<std::size_t>(order[i])] < 0,
                "P, Q");
        inverse[static_cast<std::size_t>(order[i])] = i;
    }
    return inverse;
}

/// Adds to each row the elements that its elimination makes. Rows are sorted.
void add_fill(std::vector<std::vector<int>> &rows) {
    for (int i = 0; i < static_cast<int>(rows.size()); ++i) {
        auto &row = rows[static_cast<std::size_t>(i)];
        std::set<int> found(row.begin(), row.end());
        for (auto k = found.begin(); *k < i; ++k) { // the diagonal element ends the loop
            const auto &above = rows[static_cast<std::size_t>(*k)];
            found.insert(std::upper_bound(above.begin(), above.end(), *k), above.end());
        }
        row.assign(found.begin(), found.end());
    }
}

} // namespace

template <class T> DeviceArray<T>::DeviceArray(std::size_t size) {
    softlib::check_driver(cuCtxGetCurrent(&context_), "cuCtxGetCurrent");
    softlib::check_driver(cuMemAlloc(&address_, std::max<std::size_t>(size, 1) * sizeof(T)),
                          "cuMemAlloc");
}

template <class T> DeviceArray<T>::~DeviceArray() {
    if (cuCtxPushCurrent(context_) != CUDA_SUCCESS)
        return; // the context is gone, and its memory
    cuMemFree(address_);
    CUcontext popped = nullptr;
    cuCtxPopCurrent(&popped);
}

template class DeviceArray<int>;
template class DeviceArray<double>;

Refactorisation::Refactorisation(const Pattern &a, const Pattern &l, const Pattern &u, const int *p,
                                 const int *q, bool unit_lower, int batch)
    : n_(a.n), batch_(batch), unit_lower_(unit_lower) {
    for (const Pattern *pattern : {&a, &l, &u})
        check_csr(n_, n_, pattern->count, pattern->rows, pattern->columns, 0);
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(n_));
    const std::vector<int> places = inverse_of(q, n_);
    static_cast<void>(inverse_of(p, n_));
    for (int i = 0; i < n_; ++i) {
        auto &row = rows[static_cast<std::size_t>(i)];
        row.push_back(i);
        for (int k = a.rows[p[i]]; k < a.rows[p[i] + 1]; ++k)
            row.push_back(places[static_cast<std::size_t>(a.columns[k])]);
        for (int k = l.rows[i]; k < l.rows[i + 1]; ++k) {
            require(l.columns[k] <= i, "L");
            row.push_back(l.columns[k]);
        }
        for (int k = u.rows[i]; k < u.rows[i + 1]; ++k) {
            require(u.columns[k] >= i, "U");
            row.push_back(u.columns[k]);
        }
    }
    add_fill(rows);
    std::int64_t total = 0;
    for (const auto &row : rows)
        total += static_cast<std::int64_t>(row.size());
    count_ = softlib::narrow(total);
    rows_ = std::make_unique<DeviceArray<int>>(static_cast<std::size_t>(n_) + 1);
    columns_ = std::make_unique<DeviceArray<int>>(static_cast<std::size_t>(count_));
    values_ = std::make_unique<DeviceArray<double>>(static_cast<std::size_t>(count_) *
                                                    static_cast<std::size_t>(batch_));
    int *next = columns();
    for (int i = 0; i < n_; ++i) {
        const auto &row = rows[static_cast<std::size_t>(i)];
        const auto first = static_cast<int>(next - columns());
        this->rows()[i] = first;
        diagonals_.push_back(
            first + static_cast<int>(std::lower_bound(row.begin(), row.end(), i) - row.begin()));
        next = std::copy(row.begin(), row.end(), next);
    }
    this->rows()[n_] = count_;
}

void Refactorisation::reset(const Pattern &a, const double *values, const int *p, const int *q,
                            int item) const {
    check_csr(n_, n_, a.count, a.rows, a.columns, 0);
    static_cast<void>(inverse_of(p, n_));
    const std::vector<int> places = inverse_of(q, n_);
    double *const own = this->values(item);
    std::fill(own, own + count_, 0.0);
    for (int i = 0; i < n_; ++i) {
        const int *const first = columns() + rows()[i], *const last = columns() + rows()[i + 1];
        for (int k = a.rows[p[i]]; k < a.rows[p[i] + 1]; ++k) {
            const int column = places[static_cast<std::size_t>(a.columns[k])];
            const int *const place = std::lower_bound(first, last, column);
            if (place == last || *place != column)
                throw Failure(statuses.execution_failed,
                              "row " + std::to_string(p[i]) + " has an element in column " +
                                  std::to_string(a.columns[k]) + ", which it had not at the setup");
            own[place - columns()] += values[k];
        }
    }
}

int Refactorisation::refactor(int item, const Boost &boost, bool &boosted) const {
    double *const m = values(item);
    std::vector<double> row(static_cast<std::size_t>(n_)); // row i, by columns
    for (int i = 0; i < n_; ++i) {
        const int first = rows()[i], last = rows()[i + 1], middle = diagonal(i);
        const auto at = [&](int place) -> double & {
            return row[static_cast<std::size_t>(columns()[place])];
        };
        for (int place = first; place < last; ++place)
            at(place) = m[place];
        for (int place = first; place < middle; ++place) {
            const int k = columns()[place];
            double &factor = at(place);
            if (unit_lower_)
                factor /= m[diagonal(k)];
            for (int other = diagonal(k) + 1; other < rows()[k + 1]; ++other)
                at(other) -= factor * m[other];
        }
        double &pivot = at(middle);
        if (pivot == 0 || std::abs(pivot) < boost.zero) {
            if (boost.value == 0)
                return i;
            pivot = boost.value;
            boosted = true;
        }
        for (int place = first; place < last; ++place)
            m[place] = !unit_lower_ && place > middle ? at(place) / pivot : at(place);
    }
    return -1;
}

void Refactorisation::solve(int item, bool transposed, double *y) const {
    const double *const m = values(item);
    const int *const j = columns();
    for (int i = 0; i < n_; ++i) { // L, or U^T
        if (!transposed)
            for (int place = rows()[i]; place < diagonal(i); ++place)
                y[i] -= m[place] * y[j[place]];
        if (unit_lower_ == transposed)
            y[i] /= m[diagonal(i)];
        if (transposed)
            for (int place = diagonal(i) + 1; place < rows()[i + 1]; ++place)
                y[j[place]] -= m[place] * y[i];
    }
    for (int i = n_; i-- > 0;) { // U, or L^T
        if (!transposed)
            for (int place = diagonal(i) + 1; place < rows()[i + 1]; ++place)
                y[i] -= m[place] * y[j[place]];
        if (unit_lower_ != transposed)
            y[i] /= m[diagonal(i)];
        if (transposed)
            for (int place = rows()[i]; place < diagonal(i); ++place)
                y[j[place]] -= m[place] * y[i];
    }
}

} // namespace softcusolver
