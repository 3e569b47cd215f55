// matrix.cpp -- reads and writes sparse matrices of each format.
#include "matrix.h"

#include <algorithm>
#include <numeric>

namespace softcusparse {

std::int64_t size_of_index(IndexType type) {
    return type == IndexType::Uint16 ? 2 : type == IndexType::Int32 ? 4 : 8;
}

void Indices::set(std::int64_t i, std::int64_t value) const {
    void *const target = const_cast<void *>(address);
    value += base;
    if (type == IndexType::Uint16)
        static_cast<std::uint16_t *>(target)[i] = static_cast<std::uint16_t>(value);
    else if (type == IndexType::Int32)
        static_cast<std::int32_t *>(target)[i] = static_cast<std::int32_t>(value);
    else
        static_cast<std::int64_t *>(target)[i] = value;
}

Indices Indices::at(std::int64_t offset) const {
    return {static_cast<const std::byte *>(address) + offset * size_of_index(type), type, base};
}

std::int64_t Matrix::size_of_major() const {
    switch (format) {
    case Format::Csr:
        return rows + 1;
    case Format::Csc:
        return columns + 1;
    case Format::Coo:
        return count;
    case Format::Bsr:
        return rows / block_rows + 1;
    case Format::SlicedEll:
        return (rows + slice_rows - 1) / slice_rows + 1;
    case Format::BlockedEll:
        break;
    }
    return 0;
}

std::int64_t Matrix::count_of_indices() const {
    if (format == Format::BlockedEll)
        return rows / block_rows * (ell_columns / block_columns);
    return format == Format::SlicedEll ? stored : count;
}

std::int64_t Matrix::count_of_values() const {
    if (format == Format::BlockedEll)
        return rows * ell_columns;
    return format == Format::SlicedEll ? stored : count * block_rows * block_columns;
}

void Matrix::check(const Call &call, const char *what) const {
    const auto array = [&](const void *address, std::int64_t each, std::int64_t distance,
                           std::size_t size) {
        call.bytes(address, extent_of_batch(each, distance, batch) * size, what);
    };
    array(major.address, size_of_major(), format == Format::Coo ? stride : major_stride,
          size_of_index(major.type));
    array(indices.address, count_of_indices(), stride, size_of_index(indices.type));
    const Count of_values = Count(stride) * block_rows * block_columns;
    array(values, count_of_values(), of_values.get(), size_of(type));
}

Matrix Matrix::of_batch(int number) const {
    Matrix one = *this;
    const std::int64_t moved = number * stride;
    one.major = major.at(format == Format::Coo ? moved : number * major_stride);
    one.indices = indices.at(moved);
    one.values = static_cast<std::byte *>(values) +
                 moved * block_rows * block_columns * static_cast<std::int64_t>(size_of(type));
    return one;
}

namespace {

template <class Index>
bool are_below(const Index *values, std::int64_t count, Index first, Index end) {
    Index least = first, most = first;
    for (std::int64_t i = 0; i < count; ++i) {
        least = std::min(least, values[i]);
        most = std::max(most, values[i]);
    }
    return least >= first && (count == 0 || most < end);
}

/// Whether `count` values are from 0 to `end` - 1.
bool are_below(const Indices &indices, std::int64_t count, std::int64_t end) {
    const std::int64_t first = indices.base, last = first + end;
    switch (indices.type) {
    case IndexType::Uint16:
        return are_below(static_cast<const std::uint16_t *>(indices.address), count,
                         static_cast<std::uint16_t>(first),
                         static_cast<std::uint16_t>(std::min<std::int64_t>(last, 65535)));
    case IndexType::Int32:
        return are_below(static_cast<const std::int32_t *>(indices.address), count,
                         static_cast<std::int32_t>(first),
                         static_cast<std::int32_t>(std::min<std::int64_t>(last, 2147483647)));
    case IndexType::Int64:
        break;
    }
    return are_below(static_cast<const std::int64_t *>(indices.address), count, first, last);
}

} // namespace

void Matrix::check_indices() const {
    const std::int64_t height = rows / block_rows, width = columns / block_columns;
    bool right = true;
    if (format == Format::Coo)
        right = are_below(major, count, height) && are_below(indices, count, width);
    else if (format == Format::Csr || format == Format::Bsr)
        right = are_below(indices, count, width);
    else if (format == Format::Csc)
        right = are_below(indices, count, height);
    if (!right)
        throw Failure(statuses.execution_failed, "an index is outside of the matrix");
    if (format == Format::Coo || format == Format::BlockedEll)
        return;
    std::int64_t last = major[0];
    right = last == 0;
    for (std::int64_t line = 1; line < size_of_major(); ++line) {
        right = right && major[line] >= last;
        last = major[line];
    }
    if (!right || last > count_of_indices())
        throw Failure(statuses.execution_failed, "the offsets are not those of " +
                                                     std::to_string(count_of_indices()) +
                                                     " elements");
}

std::int64_t Dense::extent() const {
    const std::int64_t outer = order == column_order ? columns : rows;
    const std::int64_t inner = order == column_order ? rows : columns;
    return softlib::extent(inner, outer, leading).get();
}

Dense Dense::of_batch(int number) const {
    Dense one = *this;
    one.values = static_cast<std::byte *>(values) +
                 number * stride * static_cast<std::int64_t>(size_of(type));
    return one;
}

void Dense::check(const Call &call, const char *what) const {
    call.bytes(values, extent_of_batch(extent(), stride, batch) * size_of(type), what);
}

void Vector::check(const Call &call, const char *what) const {
    call.bytes(indices.address, Count(count) * size_of_index(indices.type), what);
    call.bytes(values, Count(count) * size_of(type), what);
}

namespace {

/// Calls action(row, column, number of its value) for each element.
template <class Action> void for_each(const Matrix &matrix, Action action) {
    const std::int64_t height = matrix.block_rows, width = matrix.block_columns;
    const auto block = [&](std::int64_t row, std::int64_t column, std::int64_t number) {
        for (std::int64_t i = 0; i < height; ++i)
            for (std::int64_t j = 0; j < width; ++j)
                action(row * height + i, column * width + j,
                       number * height * width +
                           (matrix.block_order == row_order ? i * width + j : j * height + i));
    };
    switch (matrix.format) {
    case Format::Csr:
        for (std::int64_t row = 0; row < matrix.rows; ++row)
            for (std::int64_t k = matrix.major[row]; k < matrix.major[row + 1]; ++k)
                action(row, matrix.indices[k], k);
        return;
    case Format::Csc:
        for (std::int64_t column = 0; column < matrix.columns; ++column)
            for (std::int64_t k = matrix.major[column]; k < matrix.major[column + 1]; ++k)
                action(matrix.indices[k], column, k);
        return;
    case Format::Coo:
        for (std::int64_t k = 0; k < matrix.count; ++k)
            action(matrix.major[k], matrix.indices[k], k);
        return;
    case Format::Bsr:
        for (std::int64_t row = 0; row < matrix.rows / height; ++row)
            for (std::int64_t k = matrix.major[row]; k < matrix.major[row + 1]; ++k)
                block(row, matrix.indices[k], k);
        return;
    case Format::BlockedEll: { // values are one dense matrix of rows x ell_columns, by rows
        const std::int64_t across = matrix.ell_columns / width;
        for (std::int64_t row = 0; row < matrix.rows; ++row)
            for (std::int64_t j = 0; j < matrix.ell_columns; ++j) {
                const std::int64_t column = matrix.indices[row / height * across + j / width];
                if (column >= 0 && column < matrix.columns / width) // -1 is no block
                    action(row, column * width + j % width, row * matrix.ell_columns + j);
            }
        return;
    }
    case Format::SlicedEll:
        for (std::int64_t row = 0; row < matrix.rows; ++row) {
            const std::int64_t slice = row / matrix.slice_rows;
            for (std::int64_t k = matrix.major[slice] + row % matrix.slice_rows;
                 k < matrix.major[slice + 1]; k += matrix.slice_rows)
                if (const std::int64_t column = matrix.indices[k];
                    column >= 0 && column < matrix.columns) // a negative one is a gap
                    action(row, column, k);
        }
        return;
    }
    not_supported("this format");
}

} // namespace

template <class T> void Rows<T>::sort() {
    std::vector<std::pair<std::int64_t, T>> row;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t begin = offsets[r], end = offsets[r + 1];
        if (std::is_sorted(indices.begin() + begin, indices.begin() + end))
            continue;
        row.clear();
        for (std::int64_t k = begin; k < end; ++k)
            row.emplace_back(indices[k], values[k]);
        std::ranges::stable_sort(row, {}, [](const auto &one) { return one.first; });
        for (std::int64_t k = begin; k < end; ++k)
            std::tie(indices[k], values[k]) = row[k - begin];
    }
}

template <class T> Rows<T> read_rows(const Matrix &matrix, int op) {
    matrix.check_indices();
    Rows<T> result;
    result.rows = op == 0 ? matrix.rows : matrix.columns;
    result.columns = op == 0 ? matrix.columns : matrix.rows;
    result.offsets.assign(static_cast<std::size_t>(result.rows) + 1, 0);
    for_each(matrix, [&](std::int64_t row, std::int64_t column, std::int64_t) {
        if (op != 0)
            std::swap(row, column);
        ++result.offsets[row + 1];
    });
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
    const auto count = static_cast<std::size_t>(result.offsets.back());
    result.indices.resize(count);
    result.values.resize(count);
    std::vector<std::int64_t> next(result.offsets.begin(), result.offsets.end() - 1);
    const Elements<T> values(matrix.type, matrix.values, matrix.count_of_values());
    for_each(matrix, [&](std::int64_t row, std::int64_t column, std::int64_t k) {
        if (op != 0)
            std::swap(row, column);
        const std::int64_t place = next[row]++;
        result.indices[place] = column;
        result.values[place] = op == 2 ? conjugate(values[k]) : values[k];
    });
    return result;
}

template <class T> void write_rows(const Rows<T> &rows, const Matrix &to, bool with_values) {
    if (to.format != Format::Csr && to.format != Format::Csc && to.format != Format::Coo)
        not_supported("a result in this format");
    MutableElements<T> values(to.type, to.values, with_values ? rows.count() : 0);
    const bool by_columns = to.format == Format::Csc;
    const std::int64_t lines = by_columns ? rows.columns : rows.rows;
    std::vector<std::int64_t> next(static_cast<std::size_t>(lines) + 1, 0);
    for (std::int64_t row = 0; row < rows.rows; ++row)
        for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k)
            ++next[(by_columns ? rows.indices[k] : row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    if (to.format != Format::Coo)
        for (std::int64_t line = 0; line <= lines; ++line)
            to.major.set(line, next[line]);
    for (std::int64_t row = 0; row < rows.rows; ++row)
        for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
            const std::int64_t place = next[by_columns ? rows.indices[k] : row]++;
            if (to.format == Format::Coo)
                to.major.set(place, row);
            to.indices.set(place, by_columns ? row : rows.indices[k]);
            if (with_values)
                values.data()[place] = rows.values[k];
        }
    values.store();
}

#define SOFTCUSPARSE_TYPE(T)                                                                       \
    template struct Rows<T>;                                                                       \
    template Rows<T> read_rows<T>(const Matrix &, int);                                            \
    template void write_rows<T>(const Rows<T> &, const Matrix &, bool);
SOFTCUSPARSE_TYPE(float)
SOFTCUSPARSE_TYPE(double)
SOFTCUSPARSE_TYPE(Complex)
SOFTCUSPARSE_TYPE(DoubleComplex)
#undef SOFTCUSPARSE_TYPE

} // namespace softcusparse
