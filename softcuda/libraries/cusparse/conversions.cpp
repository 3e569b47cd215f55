// conversions.cpp -- dense and sparse, rows and columns, sorted and unsorted.
#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace softcusparse {
namespace {

std::int64_t place(const Dense &shape, std::int64_t row, std::int64_t column) {
    return shape.order == column_order ? row + column * shape.leading
                                       : row * shape.leading + column;
}

/// The elements that are not zero.
template <class T> Rows<T> nonzero(const Dense &matrix) {
    const Elements<T> values(matrix.type, matrix.values, matrix.extent());
    Rows<T> result;
    result.rows = matrix.rows;
    result.columns = matrix.columns;
    result.offsets.assign(1, 0);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (std::int64_t column = 0; column < matrix.columns; ++column)
            if (const T value = values[place(matrix, row, column)]; value != T{}) {
                result.indices.push_back(column);
                result.values.push_back(value);
            }
        result.offsets.push_back(result.count());
    }
    return result;
}

void check_shapes(const Dense &dense, const Matrix &sparse) {
    require(dense.rows == sparse.rows && dense.columns == sparse.columns,
            "the shapes of the matrices");
}

void to_dense(const Call &call, const Matrix &from, const Dense &to) {
    check_shapes(to, from);
    from.check(call, "A");
    to.check(call, "B");
    with_compute_type(static_cast<int>(to.type), [&]<class T>(T) {
        call.enqueue(static_cast<double>(to.extent()), [=] {
            const Rows<T> rows = read_rows<T>(from, 0);
            MutableElements<T> result(to.type, to.values, to.extent());
            for (std::int64_t row = 0; row < to.rows; ++row)
                for (std::int64_t column = 0; column < to.columns; ++column)
                    result.data()[place(to, row, column)] = T{};
            for (std::int64_t row = 0; row < rows.rows; ++row)
                for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k)
                    result.data()[place(to, row, rows.indices[k])] = rows.values[k];
            result.store();
        });
    });
}

/// Sorts `count` elements by two keys; moves `permutation` alike, unless it is null.
void sort_by(const int *major, const int *minor, std::int64_t begin, std::int64_t end,
             std::vector<std::int64_t> &order) {
    order.resize(static_cast<std::size_t>(end - begin));
    std::iota(order.begin(), order.end(), begin);
    std::ranges::stable_sort(order, [&](std::int64_t one, std::int64_t other) {
        const int first = major != nullptr ? major[one] : 0;
        const int second = major != nullptr ? major[other] : 0;
        return first != second ? first < second : minor[one] < minor[other];
    });
}

void reorder(int *values, std::int64_t begin, const std::vector<std::int64_t> &order) {
    if (values == nullptr)
        return;
    std::vector<int> moved;
    moved.reserve(order.size());
    for (const std::int64_t from : order)
        moved.push_back(values[from]);
    std::ranges::copy(moved, values + begin);
}

void sort_coordinates(const Call &call, int count, int *major, int *minor, int *permutation) {
    require(count >= 0, "nnz");
    call.check(major, count, "the indices");
    call.check(minor, count, "the indices");
    if (permutation != nullptr)
        call.check(permutation, count, "P");
    call.enqueue(30.0 * count, [=] {
        std::vector<std::int64_t> order;
        sort_by(major, minor, 0, count, order);
        for (int *const values : {major, minor, permutation})
            reorder(values, 0, order);
    });
}

void sort_lines(const Call &call, int lines, int count, const LegacyDescription *description,
                const int *offsets, int *indices, int *permutation) {
    require(lines >= 0 && count >= 0 && description != nullptr, "the sizes and the descriptor");
    call.check(offsets, Count(lines) + 1, "the offsets");
    call.check(indices, count, "the indices");
    if (permutation != nullptr)
        call.check(permutation, count, "P");
    const int base = description->base;
    call.enqueue(30.0 * count, [=] {
        std::vector<std::int64_t> order;
        for (int line = 0; line < lines; ++line) {
            const int begin = offsets[line] - base, end = offsets[line + 1] - base;
            if (begin < 0 || end < begin || end > count)
                throw Failure(statuses.execution_failed, "offsets outside of the matrix");
            sort_by(nullptr, indices, begin, end, order);
            for (int *const values : {indices, permutation})
                reorder(values, begin, order);
        }
    });
}

/// The elements of each row or column of a dense matrix that are not zero.
template <class T>
void count_nonzero(const Call &call, int direction, int m, int n, const T *a, int lda, int *counts,
                   int *total) {
    require((direction == 0 || direction == 1) && m >= 0 && n >= 0 && lda >= std::max(m, 1),
            "direction and sizes");
    call.check(a, extent(m, n, lda), "A");
    call.check(counts, direction == 0 ? m : n, "the counts");
    call.give_count(total, [=] {
        std::fill(counts, counts + (direction == 0 ? m : n), 0);
        int sum = 0;
        for (std::int64_t column = 0; column < n; ++column)
            for (std::int64_t row = 0; row < m; ++row)
                if (a[row + column * lda] != T{})
                    ++counts[direction == 0 ? row : column], ++sum;
        return sum;
    });
}

void check_offsets(const int *offsets, int lines, int base, std::int64_t count) {
    for (int line = 0; line < lines; ++line)
        if (offsets[line] < base || offsets[line + 1] < offsets[line] ||
            offsets[line + 1] - base > count)
            throw Failure(statuses.execution_failed, "offsets outside of the matrix");
}

template <class T> bool exceeds(T value, T limit) { return std::abs(value) > std::real(limit); }

template <class T>
void compress_counts(const Call &call, int m, const LegacyDescription *description, const T *values,
                     const int *offsets, int *counts, int *total, T limit) {
    require(m >= 0 && description != nullptr && std::real(limit) >= 0, "m, descriptor, tol");
    call.check(offsets, Count(m) + 1, "the offsets");
    call.check(counts, m, "the counts");
    const int base = description->base;
    call.give_count(total, [=] {
        int sum = 0;
        const std::int64_t count = m > 0 ? offsets[m] - base : 0;
        check_offsets(offsets, m, base, count);
        if (!softlib::is_readable(values, static_cast<std::size_t>(count) * sizeof(T)))
            throw Failure(statuses.execution_failed, "A has fewer values than its offsets say");
        for (int row = 0; row < m; ++row) {
            counts[row] = 0;
            for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k)
                counts[row] += exceeds(values[k], limit) ? 1 : 0;
            sum += counts[row];
        }
        return sum;
    });
}

template <class T>
void compress(const Call &call, int m, const LegacyDescription *description, const T *values,
              const int *indices, const int *offsets, int count, const int *counts, T *values_c,
              int *indices_c, int *offsets_c, T limit) {
    require(m >= 0 && count >= 0 && description != nullptr, "the sizes and the descriptor");
    call.check(values, count, "A");
    call.check(indices, count, "A");
    call.check(offsets, Count(m) + 1, "A");
    call.check(counts, m, "the counts");
    call.check(offsets_c, Count(m) + 1, "C");
    const int base = description->base;
    call.enqueue(static_cast<double>(count) + m, [=] {
        check_offsets(offsets, m, base, count);
        const auto kept = static_cast<std::size_t>(std::accumulate(counts, counts + m, 0));
        if (!softlib::is_readable(values_c, kept * sizeof(T)) ||
            !softlib::is_readable(indices_c, kept * sizeof(int)))
            throw Failure(statuses.execution_failed,
                          "C has no room for " + std::to_string(kept) + " elements");
        int next = 0;
        for (int row = 0; row < m; ++row) {
            offsets_c[row] = next + base;
            for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k)
                if (exceeds(values[k], limit)) {
                    if (next == static_cast<int>(kept))
                        throw Failure(statuses.execution_failed,
                                      "more elements exceed tol than nnzPerRow says");
                    values_c[next] = values[k];
                    indices_c[next++] = indices[k];
                }
        }
        offsets_c[m] = next + base;
    });
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

CUSPARSE_DEFINE(cusparseSparseToDense_bufferSize,
                (Handle handle, SparseMatrix, DenseMatrix, int, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSparseToDense, (Handle handle, SparseMatrix a, DenseMatrix b, int, void *),
                to_dense(call, checked_descriptor(a), checked_descriptor(b)))

CUSPARSE_DEFINE(cusparseDenseToSparse_bufferSize,
                (Handle handle, DenseMatrix, SparseMatrix, int, std::size_t *size), give_size(size))
// The analysis tells the host the number of elements, so that it can allocate their memory.
CUSPARSE_DEFINE(cusparseDenseToSparse_analysis,
                (Handle handle, DenseMatrix a, SparseMatrix b, int, void *), {
                    const Dense from = checked_descriptor(a);
                    const Matrix to = checked_descriptor(b);
                    check_shapes(from, to);
                    from.check(call, "A");
                    with_compute_type(static_cast<int>(from.type), [&]<class T>(T) {
                        std::int64_t count = 0;
                        call.run([&] {
                            const Rows<T> rows = nonzero<T>(from);
                            count = rows.count();
                            if (to.format == Format::Csr) // as the original does
                                for (std::int64_t row = 0; row <= rows.rows; ++row)
                                    to.major.set(row, rows.offsets[row]);
                        });
                        b->count = count;
                    });
                })
CUSPARSE_DEFINE(cusparseDenseToSparse_convert,
                (Handle handle, DenseMatrix a, SparseMatrix b, int, void *), {
                    const Dense from = checked_descriptor(a);
                    const Matrix to = checked_descriptor(b);
                    check_shapes(from, to);
                    from.check(call, "A");
                    to.check(call, "B");
                    with_compute_type(static_cast<int>(from.type), [&]<class T>(T) {
                        call.enqueue(static_cast<double>(from.extent()), [=] {
                            const Rows<T> rows = nonzero<T>(from);
                            if (rows.count() != to.count)
                                throw Failure(statuses.execution_failed,
                                              "the matrix has other elements than in its analysis");
                            write_rows(rows, to);
                        });
                    });
                })

#define CSR2CSC_PARAMETERS                                                                         \
    Handle handle, int m, int n, int count, const void *values, const int *offsets,                \
        const int *indices, void *values_c, int *offsets_c, int *indices_c, int type, int action,  \
        int base, int algorithm
CUSPARSE_DEFINE(cusparseCsr2cscEx2_bufferSize, (CSR2CSC_PARAMETERS, std::size_t *size),
                give_size(size))
CUSPARSE_DEFINE(cusparseCsr2cscEx2, (CSR2CSC_PARAMETERS, void *), {
    require(m >= 0 && n >= 0 && count >= 0 && (base == 0 || base == 1), "the sizes and the base");
    Matrix from, to;
    from.rows = to.rows = m;
    from.columns = to.columns = n;
    from.count = to.count = count;
    from.major = {offsets, IndexType::Int32, base};
    from.indices = {indices, IndexType::Int32, base};
    from.values = const_cast<void *>(values);
    to.format = Format::Csc;
    to.major = {offsets_c, IndexType::Int32, base};
    to.indices = {indices_c, IndexType::Int32, base};
    to.values = values_c;
    from.type = to.type = static_cast<ElementType>(type);
    const bool numeric = action == 1;
    if (!numeric) { // the pattern alone: any memory serves as values
        from.values = const_cast<int *>(indices);
        from.type = ElementType::Int32;
    }
    from.check(call, "A");
    call.check(offsets_c, Count(n) + 1, "the offsets of C");
    call.check(indices_c, count, "the indices of C");
    if (numeric)
        to.check(call, "C");
    with_compute_type(numeric ? type : 1, [&]<class T>(T) {
        call.enqueue(4.0 * count + m + n, [=] { write_rows(read_rows<T>(from, 0), to, numeric); });
    });
})

CUSPARSE_DEFINE(cusparseXcoo2csr,
                (Handle handle, const int *rows, int count, int m, int *offsets, int base), {
                    require(count >= 0 && m >= 0, "nnz and m");
                    call.check(rows, count, "the rows");
                    call.check(offsets, Count(m) + 1, "the offsets");
                    call.enqueue(static_cast<double>(count) + m, [=] {
                        int k = 0;
                        for (int row = 0; row <= m; ++row) {
                            while (k < count && rows[k] - base < row)
                                ++k;
                            offsets[row] = k + base;
                        }
                    });
                })
CUSPARSE_DEFINE(cusparseXcsr2coo,
                (Handle handle, const int *offsets, int count, int m, int *rows, int base), {
                    require(count >= 0 && m >= 0, "nnz and m");
                    call.check(offsets, Count(m) + 1, "the offsets");
                    call.check(rows, count, "the rows");
                    call.enqueue(static_cast<double>(count) + m, [=] {
                        for (int row = 0; row < m; ++row)
                            for (int k = offsets[row] - base; k < offsets[row + 1] - base; ++k) {
                                if (k < 0 || k >= count)
                                    throw Failure(statuses.execution_failed,
                                                  "offsets outside of the matrix");
                                rows[k] = row + base;
                            }
                    });
                })
CUSPARSE_DEFINE(cusparseCreateIdentityPermutation, (Handle handle, int n, int *p), {
    require(n >= 0, "n");
    call.check(p, n, "p");
    call.enqueue(n, [=] { std::iota(p, p + n, 0); });
})

#define SORT_SIZE(name)                                                                            \
    CUSPARSE_DEFINE(cusparseX##name##_bufferSizeExt,                                               \
                    (Handle handle, int, int, int, const int *, const int *, std::size_t *size),   \
                    give_size(size))
SORT_SIZE(coosort)
SORT_SIZE(csrsort)
SORT_SIZE(cscsort)
CUSPARSE_DEFINE(cusparseXcoosortByRow,
                (Handle handle, int, int, int count, int *rows, int *columns, int *p, void *),
                sort_coordinates(call, count, rows, columns, p))
CUSPARSE_DEFINE(cusparseXcoosortByColumn,
                (Handle handle, int, int, int count, int *rows, int *columns, int *p, void *),
                sort_coordinates(call, count, columns, rows, p))
CUSPARSE_DEFINE(cusparseXcsrsort,
                (Handle handle, int m, int, int count, const LegacyDescription *description,
                 const int *offsets, int *indices, int *p, void *),
                sort_lines(call, m, count, description, offsets, indices, p))
CUSPARSE_DEFINE(cusparseXcscsort,
                (Handle handle, int, int n, int count, const LegacyDescription *description,
                 const int *offsets, int *indices, int *p, void *),
                sort_lines(call, n, count, description, offsets, indices, p))

#define OF_TYPE(letter, T)                                                                         \
    CUSPARSE_DEFINE(cusparse##letter##nnz,                                                         \
                    (Handle handle, int direction, int m, int n, const LegacyDescription *,        \
                     const T *a, int lda, int *counts, int *total),                                \
                    count_nonzero(call, direction, m, n, a, lda, counts, total))                   \
    CUSPARSE_DEFINE(cusparse##letter##nnz_compress,                                                \
                    (Handle handle, int m, const LegacyDescription *description, const T *values,  \
                     const int *offsets, int *counts, int *total, T limit),                        \
                    compress_counts(call, m, description, values, offsets, counts, total, limit))  \
    CUSPARSE_DEFINE(cusparse##letter##csr2csr_compress,                                            \
                    (Handle handle, int m, int, const LegacyDescription *description,              \
                     const T *values, const int *indices, const int *offsets, int count,           \
                     const int *counts, T *values_c, int *indices_c, int *offsets_c, T limit),     \
                    compress(call, m, description, values, indices, offsets, count, counts,        \
                             values_c, indices_c, offsets_c, limit))
OF_TYPE(S, float)
OF_TYPE(D, double)
OF_TYPE(C, Complex)
OF_TYPE(Z, DoubleComplex)
