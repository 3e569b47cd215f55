// products.cpp -- products of a sparse matrix with dense vectors and matrices (SpMV, SpMM), and of
// dense matrices at the elements of a sparse one (SDDMM).
#include "products.h"

namespace softcusparse {
namespace {

/// Calls action with the address of the indices, of their own type.
template <class Action> void with_pointer(const Indices &indices, Action action) {
    if (indices.type == IndexType::Int32)
        action(static_cast<const std::int32_t *>(indices.address));
    else if (indices.type == IndexType::Int64)
        action(static_cast<const std::int64_t *>(indices.address));
    else
        action(static_cast<const std::uint16_t *>(indices.address));
}

/// y += alpha op(A) x for `width` columns at once: rows of x and y lie `from` and `to` elements
/// apart, their columns `from_column` and `to_column`.
template <class T> struct Product {
    const T *x;
    T *y;
    T alpha;
    std::int64_t width, from, to, from_column, to_column;
    bool conjugated;

    T element(T value) const { return conjugated ? conjugate(value) : value; }

    /// One line of the matrix is one line of the result.
    template <class Offset, class Index>
    void gather(std::int64_t lines, const Offset *offsets, const Index *indices, int base,
                const T *values) const {
        for (std::int64_t line = 0; line < lines; ++line)
            for (std::int64_t column = 0; column < width; ++column) {
                const T *const source = x + column * from_column;
                T sum{};
                for (std::int64_t k = offsets[line] - base; k < offsets[line + 1] - base; ++k)
                    sum += element(values[k]) * source[(indices[k] - base) * from];
                y[line * to + column * to_column] += alpha * sum;
            }
    }
    template <class Offset, class Index>
    void scatter(std::int64_t lines, const Offset *offsets, const Index *indices, int base,
                 const T *values) const {
        for (std::int64_t line = 0; line < lines; ++line)
            for (std::int64_t k = offsets[line] - base; k < offsets[line + 1] - base; ++k) {
                const T value = alpha * element(values[k]);
                for (std::int64_t column = 0; column < width; ++column)
                    y[(indices[k] - base) * to + column * to_column] +=
                        value * x[line * from + column * from_column];
            }
    }
    void add(const Matrix &matrix, bool transposed, const T *values) const {
        const bool by_rows = matrix.format == Format::Csr;
        const std::int64_t lines = by_rows ? matrix.rows : matrix.columns;
        with_pointer(matrix.major, [&](const auto *offsets) {
            with_pointer(matrix.indices, [&](const auto *indices) {
                if (by_rows != transposed)
                    gather(lines, offsets, indices, matrix.major.base, values);
                else
                    scatter(lines, offsets, indices, matrix.major.base, values);
            });
        });
    }
    void add_coordinates(const Matrix &matrix, bool transposed, const T *values) const {
        for (std::int64_t k = 0; k < matrix.count; ++k) {
            std::int64_t row = matrix.major[k], column = matrix.indices[k];
            if (transposed)
                std::swap(row, column);
            const T value = alpha * element(values[k]);
            for (std::int64_t c = 0; c < width; ++c)
                y[row * to + c * to_column] += value * x[column * from + c * from_column];
        }
    }
};

template <class T> void scale(T *values, const Dense &shape, T beta) {
    const std::int64_t outer = shape.order == column_order ? shape.columns : shape.rows;
    const std::int64_t inner = shape.order == column_order ? shape.rows : shape.columns;
    for (std::int64_t i = 0; i < outer; ++i)
        for (std::int64_t j = 0; j < inner; ++j) {
            T &value = values[i * shape.leading + j];
            value = beta == T{} ? T{} : beta * value;
        }
}

/// The steps in memory from one row, and from one column, to the next.
std::pair<std::int64_t, std::int64_t> steps(const Dense &shape) {
    return shape.order == column_order ? std::pair{std::int64_t{1}, shape.leading}
                                       : std::pair{shape.leading, std::int64_t{1}};
}

template <class T>
void multiply(const Matrix &a, int op, const Dense &b, int op_b, const Dense &c, T alpha, T beta) {
    const Elements<T> x(b.type, b.values, b.extent());
    MutableElements<T> y(c.type, c.values, c.extent());
    scale(y.data(), c, beta);
    auto [from, from_column] = steps(b);
    if (op_b != 0)
        std::swap(from, from_column);
    const auto [to, to_column] = steps(c);
    std::vector<T> conjugated; // of B
    const T *source = x.data();
    if (op_b == 2 && is_complex<T>) {
        conjugated.assign(source, source + b.extent());
        for (T &value : conjugated)
            value = conjugate(value);
        source = conjugated.data();
    }
    const Product<T> product{source,      y.data(),  alpha,
                             c.columns,   from,      to,
                             from_column, to_column, op == 2 && is_complex<T>};
    if (a.format == Format::Csr || a.format == Format::Csc || a.format == Format::Coo) {
        a.check_indices();
        const Elements<T> values(a.type, a.values, a.count_of_values());
        if (a.format == Format::Coo)
            product.add_coordinates(a, op != 0, values.data());
        else
            product.add(a, op != 0, values.data());
    } else {
        const Rows<T> rows = read_rows<T>(a, op);
        Product<T> plain = product;
        plain.conjugated = false;
        plain.gather(rows.rows, rows.offsets.data(), rows.indices.data(), 0, rows.values.data());
    }
    y.store();
}

/// C = alpha (A B) + beta C at the elements of C.
template <class T>
void sample(const Dense &a, int op_a, const Dense &b, int op_b, const Matrix &c, T alpha, T beta) {
    c.check_indices();
    const Elements<T> left(a.type, a.values, a.extent()), right(b.type, b.values, b.extent());
    MutableElements<T> values(c.type, c.values, c.count);
    auto [row_step, inner_of_a] = steps(a);
    auto [inner_of_b, column_step] = steps(b);
    if (op_a != 0)
        std::swap(row_step, inner_of_a);
    if (op_b != 0)
        std::swap(inner_of_b, column_step);
    const std::int64_t inner = op_a == 0 ? a.columns : a.rows;
    const auto at = [&](std::int64_t row, std::int64_t column, std::int64_t k) {
        T sum{};
        for (std::int64_t i = 0; i < inner; ++i) {
            const T one = left[row * row_step + i * inner_of_a];
            const T other = right[i * inner_of_b + column * column_step];
            sum += (op_a == 2 ? conjugate(one) : one) * (op_b == 2 ? conjugate(other) : other);
        }
        T &value = values.data()[k];
        value = alpha * sum + (beta == T{} ? T{} : beta * value);
    };
    if (c.format == Format::Coo)
        for (std::int64_t k = 0; k < c.count; ++k)
            at(c.major[k], c.indices[k], k);
    else
        for (std::int64_t line = 0; line < c.size_of_major() - 1; ++line)
            for (std::int64_t k = c.major[line]; k < c.major[line + 1]; ++k)
                c.format == Format::Csr ? at(line, c.indices[k], k) : at(c.indices[k], line, k);
    values.store();
}

void sampled(const Call &call, int op_a, int op_b, const void *alpha, const Dense &a,
             const Dense &b, const void *beta, const Matrix &c, int type) {
    check_operation(op_a);
    check_operation(op_b);
    if (c.format != Format::Csr && c.format != Format::Csc && c.format != Format::Coo)
        not_supported("SDDMM of this format");
    require((op_a == 0 ? a.rows : a.columns) == c.rows &&
                (op_b == 0 ? b.columns : b.rows) == c.columns &&
                (op_a == 0 ? a.columns : a.rows) == (op_b == 0 ? b.rows : b.columns),
            "the shapes of the operands");
    a.check(call, "A");
    b.check(call, "B");
    c.check(call, "C");
    with_compute_type(type, [&]<class T>(T) {
        const Scalar<T> by = call.scalar<T>(alpha, type), keep = call.scalar<T>(beta, type);
        call.enqueue(static_cast<double>(c.count) * static_cast<double>(a.columns + a.rows), [=] {
            for (int i = 0; i < c.batch; ++i)
                sample<T>(a.batch > 1 ? a.of_batch(i) : a, op_a, b.batch > 1 ? b.of_batch(i) : b,
                          op_b, c.of_batch(i), by.get(), keep.get());
        });
    });
}

} // namespace

void enqueue_product(const Call &call, int op, int op_b, const void *alpha, const Matrix &a,
                     const Dense &b, const void *beta, const Dense &c, int type) {
    check_operation(op);
    check_operation(op_b);
    const std::int64_t rows = op == 0 ? a.rows : a.columns, inner = op == 0 ? a.columns : a.rows;
    require((op_b == 0 ? b.rows : b.columns) == inner && c.rows == rows &&
                c.columns == (op_b == 0 ? b.columns : b.rows),
            "the shapes of the operands");
    const int batch = std::max({a.batch, b.batch, c.batch});
    require((a.batch == 1 || a.batch == batch) && (b.batch == 1 || b.batch == batch) &&
                c.batch == batch,
            "the numbers of matrices in the batches");
    a.check(call, "A");
    b.check(call, "B");
    c.check(call, "C");
    with_compute_type(type, [&]<class T>(T) {
        const Scalar<T> by = call.scalar<T>(alpha, type), keep = call.scalar<T>(beta, type);
        const double work = static_cast<double>(a.count_of_values() + a.rows) *
                            static_cast<double>(c.columns) * batch;
        call.enqueue(work, [=] {
            for (int i = 0; i < batch; ++i)
                multiply<T>(a.batch > 1 ? a.of_batch(i) : a, op, b.batch > 1 ? b.of_batch(i) : b,
                            op_b, c.of_batch(i), by.get(), keep.get());
        });
    });
}

} // namespace softcusparse

using namespace softcusparse;

#define SPMV_PARAMETERS                                                                            \
    Handle handle, int op, const void *alpha, SparseMatrix a, DenseVector x, const void *beta,     \
        DenseVector y, int type, int algorithm
CUSPARSE_DEFINE(cusparseSpMV_bufferSize, (SPMV_PARAMETERS, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSpMV_preprocess, (SPMV_PARAMETERS, void *), {})
CUSPARSE_DEFINE(cusparseSpMV, (SPMV_PARAMETERS, void *), {
    enqueue_product(call, op, 0, alpha, checked_descriptor(a), checked_descriptor(x), beta,
                    checked_descriptor(y), type);
})

#define SPMM_PARAMETERS                                                                            \
    Handle handle, int op, int op_b, const void *alpha, SparseMatrix a, DenseMatrix b,             \
        const void *beta, DenseMatrix c, int type, int algorithm
CUSPARSE_DEFINE(cusparseSpMM_bufferSize, (SPMM_PARAMETERS, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSpMM_preprocess, (SPMM_PARAMETERS, void *), {})
CUSPARSE_DEFINE(cusparseSpMM, (SPMM_PARAMETERS, void *), {
    enqueue_product(call, op, op_b, alpha, checked_descriptor(a), checked_descriptor(b), beta,
                    checked_descriptor(c), type);
})

#define SDDMM_PARAMETERS                                                                           \
    Handle handle, int op_a, int op_b, const void *alpha, DenseMatrix a, DenseMatrix b,            \
        const void *beta, SparseMatrix c, int type, int algorithm
CUSPARSE_DEFINE(cusparseSDDMM_bufferSize, (SDDMM_PARAMETERS, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSDDMM_preprocess, (SDDMM_PARAMETERS, void *), {})
CUSPARSE_DEFINE(cusparseSDDMM, (SDDMM_PARAMETERS, void *), {
    sampled(call, op_a, op_b, alpha, checked_descriptor(a), checked_descriptor(b), beta,
            checked_descriptor(c), type);
})
