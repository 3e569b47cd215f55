// triangular.cpp -- solutions with triangular sparse matrices: SpSV for vectors, SpSM for matrices.
#include "products.h"

#include <cstring>

/// cusparseSpSVDescr_t and cusparseSpSMDescr_t.
struct cusparseSolveDescr {
    static constexpr std::uint32_t alive = 0x5c5a7de;
    std::uint32_t state = alive;
    /// Values that replace those of the matrix: the bytes of updateMatrix().
    std::shared_ptr<std::vector<std::byte>> values;
    softcusparse::ElementType type = softcusparse::ElementType::Float32;
    std::int64_t count = -1; ///< of the analysed matrix
};

namespace softcusparse {
namespace {

using Descriptor = cusparseSolveDescr *;

template <class T>
void solve_columns(const Rows<T> &rows, bool lower, bool unit, T *x, std::int64_t columns,
                   std::int64_t row_step, std::int64_t column_step) {
    for (std::int64_t column = 0; column < columns; ++column) {
        T *const b = x + column * column_step;
        for (std::int64_t i = 0; i < rows.rows; ++i) {
            const std::int64_t row = lower ? i : rows.rows - 1 - i;
            T sum = b[row * row_step], diagonal = unit ? T{1} : T{};
            for (std::int64_t k = rows.offsets[row]; k < rows.offsets[row + 1]; ++k) {
                const std::int64_t other = rows.indices[k];
                if (other == row && !unit)
                    diagonal = rows.values[k];
                else if (lower ? other < row : other > row)
                    sum -= rows.values[k] * b[other * row_step];
            }
            b[row * row_step] = sum / diagonal;
        }
    }
}

void analyse(const Matrix &a, cusparseSolveDescr &descriptor) {
    descriptor.values = nullptr;
    descriptor.type = a.type;
    descriptor.count = a.count_of_values();
}

void update(const Call &call, cusparseSolveDescr &descriptor, const void *values, int part) {
    if (part != 0)
        not_supported("an update of the diagonal alone");
    require(descriptor.count >= 0, "a matrix that was analysed");
    const std::size_t bytes =
        static_cast<std::size_t>(descriptor.count) * softlib::size_of(descriptor.type);
    call.bytes(values, static_cast<std::int64_t>(bytes), "the new values");
    auto kept = std::make_shared<std::vector<std::byte>>(bytes);
    descriptor.values = kept;
    call.enqueue(1e7, [=] { std::memcpy(kept->data(), values, bytes); });
}

} // namespace

void enqueue_solution(const Call &call, int op, int op_b, const void *alpha, const Matrix &a,
                      const Dense &b, const Dense &c, int type,
                      const std::shared_ptr<std::vector<std::byte>> &values) {
    check_operation(op);
    check_operation(op_b);
    require(a.rows == a.columns && c.rows == a.rows && (op_b == 0 ? b.rows : b.columns) == c.rows &&
                (op_b == 0 ? b.columns : b.rows) == c.columns,
            "the shapes of the operands");
    a.check(call, "A");
    b.check(call, "B");
    c.check(call, "C");
    with_compute_type(type, [&]<class T>(T) {
        const Scalar<T> by = call.scalar<T>(alpha, type);
        const double work = static_cast<double>(a.count + a.rows) * static_cast<double>(c.columns);
        call.enqueue(work, [=, newer = values] {
            Matrix matrix = a;
            if (newer != nullptr)
                matrix.values = newer->data();
            const Rows<T> rows = read_rows<T>(matrix, op);
            const Elements<T> right(b.type, b.values, b.extent());
            const std::vector<T> source(right.data(), right.data() + b.extent()); // may be C
            MutableElements<T> result(c.type, c.values, c.extent());
            const auto place = [](const Dense &shape, std::int64_t row, std::int64_t column) {
                return shape.order == column_order ? row + column * shape.leading
                                                   : row * shape.leading + column;
            };
            const T factor = by.get();
            for (std::int64_t row = 0; row < c.rows; ++row)
                for (std::int64_t column = 0; column < c.columns; ++column) {
                    const T value =
                        source[op_b == 0 ? place(b, row, column) : place(b, column, row)];
                    result.data()[place(c, row, column)] =
                        factor * (op_b == 2 ? conjugate(value) : value);
                }
            const bool lower = (matrix.fill == 0) == (op == 0);
            solve_columns(rows, lower, matrix.unit_diagonal, result.data(), c.columns,
                          place(c, 1, 0), place(c, 0, 1));
            result.store();
        });
    });
}

} // namespace softcusparse

using namespace softcusparse;

#define DESCRIPTOR(name)                                                                           \
    SOFTLIB_FUNCTION(cusparse##name##_createDescr, (Descriptor * descriptor), {                    \
        require(descriptor != nullptr, "the descriptor's address");                                \
        *descriptor = std::make_unique<cusparseSolveDescr>().release();                            \
    })                                                                                             \
    SOFTLIB_FUNCTION(cusparse##name##_destroyDescr, (Descriptor descriptor), {                     \
        checked_descriptor(descriptor).state = 0;                                                  \
        delete descriptor;                                                                         \
    })                                                                                             \
    CUSPARSE_DEFINE(cusparse##name##_updateMatrix,                                                 \
                    (Handle handle, Descriptor descriptor, void *values, int part),                \
                    update(call, checked_descriptor(descriptor), values, part))
DESCRIPTOR(SpSV)
DESCRIPTOR(SpSM)

#define SPSV_PARAMETERS                                                                            \
    Handle handle, int op, const void *alpha, SparseMatrix a, DenseVector x, DenseVector y,        \
        int type, int algorithm, Descriptor descriptor
CUSPARSE_DEFINE(cusparseSpSV_bufferSize, (SPSV_PARAMETERS, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSpSV_analysis, (SPSV_PARAMETERS, void *),
                analyse(checked_descriptor(a), checked_descriptor(descriptor)))
CUSPARSE_DEFINE(cusparseSpSV_solve, (SPSV_PARAMETERS),
                enqueue_solution(call, op, 0, alpha, checked_descriptor(a), checked_descriptor(x),
                                 checked_descriptor(y), type,
                                 checked_descriptor(descriptor).values))

#define SPSM_PARAMETERS                                                                            \
    Handle handle, int op, int op_b, const void *alpha, SparseMatrix a, DenseMatrix b,             \
        DenseMatrix c, int type, int algorithm, Descriptor descriptor
CUSPARSE_DEFINE(cusparseSpSM_bufferSize, (SPSM_PARAMETERS, std::size_t *size), give_size(size))
CUSPARSE_DEFINE(cusparseSpSM_analysis, (SPSM_PARAMETERS, void *),
                analyse(checked_descriptor(a), checked_descriptor(descriptor)))
CUSPARSE_DEFINE(cusparseSpSM_solve, (SPSM_PARAMETERS),
                enqueue_solution(call, op, op_b, alpha, checked_descriptor(a),
                                 checked_descriptor(b), checked_descriptor(c), type,
                                 checked_descriptor(descriptor).values))
