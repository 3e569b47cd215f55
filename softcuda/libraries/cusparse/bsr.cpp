// bsr.cpp -- the older functions of matrices of blocks (BSR): products, triangular solutions, and
// conversions from and to CSR.
#include "factor_info.h"
#include "products.h"

#include <algorithm>
#include <map>

namespace softcusparse {
namespace {

/// The arguments that describe a matrix of blocks.
struct Blocks {
    int direction, rows, columns, count; ///< in blocks
    const LegacyDescription *description;
    const void *values;
    const int *offsets, *indices;
    int size; ///< of a block's side
};

template <class T> Matrix matrix_of(const Blocks &blocks) {
    require((blocks.direction == 0 || blocks.direction == 1) && blocks.rows >= 0 &&
                blocks.columns >= 0 && blocks.count >= 0 && blocks.size >= 1 &&
                blocks.description != nullptr,
            "dir, mb, nb, nnzb, blockDim, descr");
    Matrix matrix;
    matrix.format = Format::Bsr;
    matrix.rows = std::int64_t{blocks.rows} * blocks.size;
    matrix.columns = std::int64_t{blocks.columns} * blocks.size;
    matrix.count = blocks.count;
    matrix.major = {blocks.offsets, IndexType::Int32, blocks.description->base};
    matrix.indices = {blocks.indices, IndexType::Int32, blocks.description->base};
    matrix.values = const_cast<void *>(blocks.values);
    matrix.type = element_type<T>;
    matrix.fill = blocks.description->fill;
    matrix.unit_diagonal = blocks.description->diagonal == 1;
    matrix.block_rows = matrix.block_columns = blocks.size;
    matrix.block_order = blocks.direction == 0 ? row_order : column_order;
    return matrix;
}

/// A dense matrix of the caller. Its transpose has the same elements in the order of rows.
template <class T>
Dense dense_of(std::int64_t rows, std::int64_t columns, const T *values, int leading,
               bool transposed = false) {
    require(leading >= std::max<std::int64_t>(1, transposed ? columns : rows), "ldb, ldc, ldx");
    Dense dense;
    dense.rows = rows;
    dense.columns = columns;
    dense.leading = leading;
    dense.values = const_cast<T *>(values);
    dense.type = element_type<T>;
    dense.order = transposed ? row_order : column_order;
    return dense;
}

/// C = alpha op(A) op(B) + beta C with `n` columns.
template <class T>
void multiply(const Call &call, int op, int op_b, int n, const T *alpha, const Blocks &blocks,
              const T *b, int ldb, const T *beta, T *c, int ldc) {
    check_operation(op);
    check_operation(op_b);
    require(n >= 0, "n");
    const Matrix a = matrix_of<T>(blocks);
    const std::int64_t inner = op == 0 ? a.columns : a.rows, outer = op == 0 ? a.rows : a.columns;
    enqueue_product(call, op, op_b, alpha, a,
                    op_b == 0 ? dense_of(inner, n, b, ldb) : dense_of(n, inner, b, ldb), beta,
                    dense_of(outer, n, c, ldc), number_of<T>);
}

/// y = alpha A x + beta y in the rows of blocks that `mask` names. Row i of blocks begins and ends
/// where offsets[i] and ends[i] say.
template <class T>
void multiply_masked(const Call &call, int op, const Blocks &blocks, int masked, const int *mask,
                     const int *ends, const T *alpha, const T *x, const T *beta, T *y) {
    if (op != 0)
        not_supported("a transposed matrix");
    require(masked >= 0 && masked <= blocks.rows, "sizeOfMask");
    const Matrix a = matrix_of<T>(blocks);
    call.check(blocks.offsets, blocks.rows, "bsrRowPtr");
    call.check(ends, blocks.rows, "bsrEndPtr");
    call.check(mask, masked, "bsrMaskPtr");
    call.check(blocks.indices, a.count, "bsrColInd");
    call.check(static_cast<const T *>(a.values), a.count_of_values(), "A");
    call.check(x, a.columns, "x");
    call.check(y, a.rows, "y");
    const Scalar<T> by = call.scalar<T>(alpha, number_of<T>),
                    keep = call.scalar<T>(beta, number_of<T>);
    call.enqueue(2.0 * static_cast<double>(a.count_of_values()), [=] {
        const std::int64_t size = blocks.size, base = a.major.base;
        const bool by_rows = a.block_order == row_order;
        for (int m = 0; m < masked; ++m) {
            const std::int64_t row = mask[m] - base;
            if (row < 0 || row >= blocks.rows)
                throw Failure(statuses.execution_failed, "the mask names a row outside");
            const std::int64_t begin = blocks.offsets[row] - base, end = ends[row] - base;
            if (begin < 0 || end < begin || end > a.count)
                throw Failure(statuses.execution_failed, "offsets outside of the matrix");
            for (std::int64_t i = 0; i < size; ++i) {
                T sum{};
                for (std::int64_t k = begin; k < end; ++k) {
                    const std::int64_t column = a.indices[k];
                    if (column < 0 || column >= blocks.columns)
                        throw Failure(statuses.execution_failed, "an index is outside");
                    const T *const block = static_cast<const T *>(a.values) + k * size * size;
                    for (std::int64_t j = 0; j < size; ++j)
                        sum += block[by_rows ? i * size + j : j * size + i] * x[column * size + j];
                }
                T &value = y[row * size + i];
                value = by.get() * sum + (keep.get() == T{} ? T{} : keep.get() * value);
            }
        }
    });
}

/// Finds the first block on the diagonal that is missing, or has a zero on its diagonal.
template <class T> int first_zero_pivot(const Matrix &a) {
    const Rows<T> rows = read_rows<T>(a, 0);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        bool found = false;
        for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k)
            found = found || (rows.indices[k] == row && (a.unit_diagonal || rows.values[k] != T{}));
        if (!found)
            return static_cast<int>(row / a.block_rows) + a.major.base;
    }
    return -1;
}

template <class T> void analyse(const Call &call, int op, const Blocks &blocks, Info info) {
    check_operation(op);
    require(info != nullptr, "info");
    const Matrix a = matrix_of<T>(blocks);
    a.check(call, "A");
    call.enqueue(1e6, [=, state = info->state] { state->zero_pivot = first_zero_pivot<T>(a); });
}

/// op(A) op(X) = alpha op(B) for `n` columns of X.
template <class T>
void solve(const Call &call, int op, int op_x, int n, const T *alpha, const Blocks &blocks,
           Info info, const T *b, int ldb, T *x, int ldx) {
    require(info != nullptr && n >= 0 && (op_x == 0 || op_x == 1), "info, n, transXY");
    const Matrix a = matrix_of<T>(blocks);
    enqueue_solution(call, op, 0, alpha, a, dense_of(a.rows, n, b, ldb, op_x == 1),
                     dense_of(a.rows, n, x, ldx, op_x == 1), number_of<T>);
}

/// A matrix in CSR whose number of elements is read from its offsets, when the stream runs.
Matrix csr_of(int rows, int columns, const LegacyDescription *description, const void *values,
              const int *offsets, const int *indices, ElementType type) {
    require(rows >= 0 && columns >= 0 && description != nullptr, "m, n, descr");
    Matrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.major = {offsets, IndexType::Int32, description->base};
    matrix.indices = {indices, IndexType::Int32, description->base};
    matrix.values = const_cast<void *>(values);
    matrix.type = type;
    return matrix;
}

/// While the stream runs: throws Failure unless all bytes can be used.
void require_memory(const void *address, std::int64_t bytes) {
    if (bytes > 0 && !softlib::is_readable(address, static_cast<std::size_t>(bytes)))
        throw Failure(statuses.execution_failed, "a matrix's arrays are no memory of a device");
}
void require_arrays(const Matrix &matrix) {
    require_memory(matrix.indices.address, matrix.count * size_of_index(matrix.indices.type));
    require_memory(matrix.values,
                   matrix.count_of_values() * static_cast<std::int64_t>(size_of(matrix.type)));
}

/// While the stream runs: counts the elements, and throws Failure unless all arrays are right.
Matrix counted(Matrix matrix) {
    matrix.count = matrix.major[matrix.size_of_major() - 1];
    if (matrix.count < 0)
        throw Failure(statuses.execution_failed, "the last offset is negative");
    require_arrays(matrix);
    matrix.check_indices();
    return matrix;
}

/// The columns of the blocks that a row of blocks has, in ascending order, with their numbers.
template <class Row> std::map<std::int64_t, std::int64_t> columns_of(const Row &each, int size) {
    std::map<std::int64_t, std::int64_t> found;
    each([&](std::int64_t, std::int64_t column, std::int64_t) { found[column / size] = 0; });
    return found;
}

/// Calls action(row, column, place) for the elements of the rows from `first` on, `size` at most.
auto rows_from(const Matrix &a, std::int64_t first, int size) {
    return [&a, first, size](auto action) {
        for (std::int64_t row = first; row < std::min(a.rows, first + size); ++row)
            for (std::int64_t k = a.major[row]; k < a.major[row + 1]; ++k)
                action(row, a.indices[k], k);
    };
}

/// The offsets of C's rows of blocks. Returns the number of blocks.
int count_blocks(const Matrix &csr, int size, int base, int *offsets) {
    Matrix pattern = csr;
    pattern.values = const_cast<void *>(csr.indices.address); // any memory serves as values
    pattern.type = ElementType::Int32;
    pattern = counted(pattern);
    int next = 0;
    *offsets++ = base;
    for (std::int64_t row = 0; row < pattern.rows; row += size) {
        next += static_cast<int>(columns_of(rows_from(pattern, row, size), size).size());
        *offsets++ = next + base;
    }
    return next;
}

template <class T>
void write_blocks(const Matrix &csr, int size, int direction, int base, T *values, int *offsets,
                  int *indices) {
    const Matrix a = counted(csr);
    const auto *const from = static_cast<const T *>(a.values);
    std::int64_t next = 0;
    *offsets++ = base;
    for (std::int64_t first = 0; first < a.rows; first += size) {
        const auto each = rows_from(a, first, size);
        std::map<std::int64_t, std::int64_t> blocks = columns_of(each, size);
        const auto count = static_cast<std::int64_t>(blocks.size());
        require_memory(values + next * size * size,
                       count * size * size * static_cast<std::int64_t>(sizeof(T)));
        require_memory(indices + next, count * static_cast<std::int64_t>(sizeof(int)));
        for (auto &[column, number] : blocks) {
            number = next++;
            indices[number] = static_cast<int>(column) + base;
            std::fill_n(values + number * size * size, size * size, T{});
        }
        each([&](std::int64_t row, std::int64_t column, std::int64_t k) {
            const std::int64_t i = row - first, j = column % size;
            values[blocks[column / size] * size * size +
                   (direction == 0 ? i * size + j : j * size + i)] += from[k];
        });
        *offsets++ = static_cast<int>(next) + base;
    }
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

SOFTCUSPARSE_INFO(Bsrsv2, bsrsv2)
SOFTCUSPARSE_INFO(Bsrsm2, bsrsm2)

CUSPARSE_DEFINE(cusparseXcsr2bsrNnz,
                (Handle handle, int direction, int m, int n, const LegacyDescription *description,
                 const int *offsets, const int *indices, int size,
                 const LegacyDescription *description_c, int *offsets_c, int *total),
                {
                    require((direction == 0 || direction == 1) && size >= 1 &&
                                description_c != nullptr,
                            "dir, blockDim, descrC");
                    const Matrix a =
                        csr_of(m, n, description, nullptr, offsets, indices, ElementType::Int32);
                    call.check(offsets, Count(m) + 1, "csrRowPtr");
                    call.check(offsets_c, (std::int64_t{m} + size - 1) / size + 1, "bsrRowPtr");
                    call.give_count(total, [=, base = description_c->base] {
                        return count_blocks(a, size, base, offsets_c);
                    });
                })

// The arguments of a matrix, as most functions have them.
#define BLOCKS(T)                                                                                  \
    const LegacyDescription *description, const T *values, const int *offsets, const int *indices, \
        int size
#define SOLUTION_SIZE(letter, T, name, suffix, Size, columns)                                      \
    CUSPARSE_DEFINE(cusparse##letter##name##_bufferSize##suffix,                                   \
                    (Handle handle, int, int columns, int, int, const LegacyDescription *, T *,    \
                     const int *, const int *, int, Info, Size *bytes),                            \
                    give_size(bytes))
#define OF_TYPE(letter, T)                                                                         \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsrmv,                                                                   \
        (Handle handle, int direction, int op, int m, int n, int count, const T *alpha, BLOCKS(T), \
         const T *x, const T *beta, T *y),                                                         \
        multiply(call, op, 0, 1, alpha,                                                            \
                 {direction, m, n, count, description, values, offsets, indices, size}, x,         \
                 std::max(1, (op == 0 ? n : m) * size), beta, y,                                   \
                 std::max(1, (op == 0 ? m : n) * size)))                                           \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsrxmv,                                                                  \
        (Handle handle, int direction, int op, int masked, int m, int n, int count,                \
         const T *alpha, const LegacyDescription *description, const T *values, const int *mask,   \
         const int *offsets, const int *ends, const int *indices, int size, const T *x,            \
         const T *beta, T *y),                                                                     \
        multiply_masked(call, op,                                                                  \
                        {direction, m, n, count, description, values, offsets, indices, size},     \
                        masked, mask, ends, alpha, x, beta, y))                                    \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsrmm,                                                                   \
        (Handle handle, int direction, int op, int op_b, int m, int n, int k, int count,           \
         const T *alpha, BLOCKS(T), const T *b, int ldb, const T *beta, T *c, int ldc),            \
        multiply(call, op, op_b, n, alpha,                                                         \
                 {direction, m, k, count, description, values, offsets, indices, size}, b, ldb,    \
                 beta, c, ldc))                                                                    \
    SOLUTION_SIZE(letter, T, bsrsv2, , int, )                                                      \
    SOLUTION_SIZE(letter, T, bsrsv2, Ext, std::size_t, )                                           \
    SOLUTION_SIZE(letter, T, bsrsm2, , int, AND_TWO)                                               \
    SOLUTION_SIZE(letter, T, bsrsm2, Ext, std::size_t, AND_TWO)                                    \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsrsv2_analysis,                                                         \
        (Handle handle, int direction, int op, int m, int count, BLOCKS(T), Info info, int,        \
         void *),                                                                                  \
        analyse<T>(call, op,                                                                       \
                   {direction, m, m, count, description, values, offsets, indices, size}, info))   \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsrsm2_analysis,                                                         \
        (Handle handle, int direction, int op, int, int m, int, int count, BLOCKS(T), Info info,   \
         int, void *),                                                                             \
        analyse<T>(call, op,                                                                       \
                   {direction, m, m, count, description, values, offsets, indices, size}, info))   \
    CUSPARSE_DEFINE(cusparse##letter##bsrsv2_solve,                                                \
                    (Handle handle, int direction, int op, int m, int count, const T *alpha,       \
                     BLOCKS(T), Info info, const T *b, T *x, int, void *),                         \
                    solve(call, op, 0, 1, alpha,                                                   \
                          {direction, m, m, count, description, values, offsets, indices, size},   \
                          info, b, std::max(1, m *size), x, std::max(1, m *size)))                 \
    CUSPARSE_DEFINE(cusparse##letter##bsrsm2_solve,                                                \
                    (Handle handle, int direction, int op, int op_x, int m, int n, int count,      \
                     const T *alpha, BLOCKS(T), Info info, const T *b, int ldb, T *x, int ldx,     \
                     int, void *),                                                                 \
                    solve(call, op, op_x, n, alpha,                                                \
                          {direction, m, m, count, description, values, offsets, indices, size},   \
                          info, b, ldb, x, ldx))                                                   \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##csr2bsr,                                                                 \
        (Handle handle, int direction, int m, int n, const LegacyDescription *description,         \
         const T *values, const int *offsets, const int *indices, int size,                        \
         const LegacyDescription *description_c, T *values_c, int *offsets_c, int *indices_c),     \
        require((direction == 0 || direction == 1) && size >= 1 && description_c != nullptr,       \
                "dir, blockDim, descrC");                                                          \
        const Matrix a = csr_of(m, n, description, values, offsets, indices, element_type<T>);     \
        call.check(offsets, Count(m) + 1, "csrRowPtr");                                            \
        call.check(offsets_c, (std::int64_t{m} + size - 1) / size + 1, "bsrRowPtr");               \
        call.enqueue(1e6, [=, base = description_c->base] {                                        \
            write_blocks(a, size, direction, base, values_c, offsets_c, indices_c);                \
        }))                                                                                        \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##bsr2csr,                                                                 \
        (Handle handle, int direction, int m, int n, BLOCKS(T),                                    \
         const LegacyDescription *description_c, T *values_c, int *offsets_c, int *indices_c),     \
        const Matrix a =                                                                           \
            matrix_of<T>({direction, m, n, 0, description, values, offsets, indices, size});       \
        const Matrix c = csr_of(m * size, n * size, description_c, values_c, offsets_c, indices_c, \
                                element_type<T>);                                                  \
        call.check(offsets, Count(m) + 1, "bsrRowPtr");                                            \
        call.check(offsets_c, Count(m) * size + 1, "csrRowPtr"); call.enqueue(1e6, [=] {           \
            Rows<T> rows = read_rows<T>(counted(a), 0);                                            \
            rows.sort();                                                                           \
            Matrix target = c;                                                                     \
            target.count = rows.count();                                                           \
            require_arrays(target);                                                                \
            write_rows(rows, target);                                                              \
        }))
#define AND_TWO , int, int
OF_TYPE(S, float)
OF_TYPE(D, double)
OF_TYPE(C, Complex)
OF_TYPE(Z, DoubleComplex)
