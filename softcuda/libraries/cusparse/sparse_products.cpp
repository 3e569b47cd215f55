// sparse_products.cpp -- products (SpGEMM) and sums (geam) of two sparse matrices.
#include "matrix.h"

#include <algorithm>
#include <mutex>

/// cusparseSpGEMMDescr_t: the product, from the call that computes it to the one that copies it.
struct cusparseSpGEMMDescr {
    static constexpr std::uint32_t alive = 0x5c5a93e;
    std::uint32_t state = alive;
    std::shared_ptr<void> product; ///< Rows<T> of the compute type
    std::int64_t multiplications = 0;
    bool estimated = false; ///< _workEstimation has computed the product
};

namespace softcusparse {
namespace {

using Descriptor = cusparseSpGEMMDescr *;

/// Sorted rows of A B. Counts the multiplications.
template <class T>
Rows<T> multiplied(const Rows<T> &a, const Rows<T> &b, std::int64_t &multiplications) {
    Rows<T> result;
    result.rows = a.rows;
    result.columns = b.columns;
    result.offsets.assign(1, 0);
    std::vector<T> sums(static_cast<std::size_t>(b.columns));
    std::vector<std::int64_t> last(static_cast<std::size_t>(b.columns), -1), present;
    multiplications = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        present.clear();
        for (std::int64_t i = a.offsets[row]; i < a.offsets[row + 1]; ++i) {
            const std::int64_t middle = a.indices[i];
            multiplications += b.offsets[middle + 1] - b.offsets[middle];
            for (std::int64_t k = b.offsets[middle]; k < b.offsets[middle + 1]; ++k) {
                const std::int64_t column = b.indices[k];
                if (last[column] != row) {
                    last[column] = row;
                    sums[column] = T{};
                    present.push_back(column);
                }
                sums[column] += a.values[i] * b.values[k];
            }
        }
        std::ranges::sort(present);
        for (const std::int64_t column : present) {
            result.indices.push_back(column);
            result.values.push_back(sums[column]);
        }
        result.offsets.push_back(result.count());
    }
    return result;
}

void check_shapes(int op_a, int op_b, const Matrix &a, const Matrix &b, const Matrix &c) {
    check_operation(op_a);
    check_operation(op_b);
    require((op_a == 0 ? a.columns : a.rows) == (op_b == 0 ? b.rows : b.columns) &&
                c.rows == (op_a == 0 ? a.rows : a.columns) &&
                c.columns == (op_b == 0 ? b.columns : b.rows),
            "the shapes of the operands");
}

/// Computes the product in the stream and waits, because the host asks for its size.
template <class T>
void compute(const Call &call, int op_a, int op_b, Matrix a, Matrix b, SparseMatrix c,
             Descriptor descriptor) {
    check_shapes(op_a, op_b, a, b, *c);
    a.check(call, "A");
    b.check(call, "B");
    auto product = std::make_shared<Rows<T>>();
    std::int64_t multiplications = 0;
    call.run([&] {
        *product = multiplied(read_rows<T>(a, op_a), read_rows<T>(b, op_b), multiplications);
    });
    descriptor->multiplications = multiplications;
    c->count = product->count();
    descriptor->product = product;
}

/// Writes alpha times the product, plus beta times the values that C has: those of an earlier
/// product of the same pattern.
template <class T>
void write(const Call &call, const Scalar<T> &alpha, const Scalar<T> &beta, const Matrix &c,
           const Descriptor descriptor) {
    require(descriptor->product != nullptr, "a product that was computed");
    require(c.count == static_cast<const Rows<T> *>(descriptor->product.get())->count(),
            "the number of elements of C");
    c.check(call, "C");
    call.enqueue(1e7, [=, product = descriptor->product] {
        Rows<T> result = *static_cast<const Rows<T> *>(product.get());
        const T by = alpha.get(), keep = beta.get();
        for (T &value : result.values)
            value *= by;
        if (keep != T{}) {
            const Elements<T> old(c.type, c.values, c.count);
            for (std::int64_t k = 0; k < c.count; ++k)
                result.values[k] += keep * old[k];
        }
        write_rows(result, c);
    });
}

// geam: C = alpha A + beta B, with the pattern of both.

template <class T> struct Legacy {
    int count;
    const T *values;
    const int *offsets, *indices;
    int base;

    Matrix matrix(const Call &call, int rows, int columns, const char *what) const {
        require(rows >= 0 && columns >= 0 && count >= 0, "the sizes");
        Matrix made;
        made.rows = rows;
        made.columns = columns;
        made.count = count;
        made.major = {offsets, IndexType::Int32, base};
        made.indices = {indices, IndexType::Int32, base};
        made.values = const_cast<T *>(values);
        made.type = element_type<T>;
        call.check(offsets, Count(rows) + 1, what);
        call.check(indices, count, what);
        if (values != nullptr)
            call.check(values, count, what);
        return made;
    }
};

template <class T> Rows<T> added(const Rows<T> &a, T alpha, const Rows<T> &b, T beta) {
    Rows<T> result;
    result.rows = a.rows;
    result.columns = a.columns;
    result.offsets.assign(1, 0);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        std::int64_t i = a.offsets[row], k = b.offsets[row];
        while (i < a.offsets[row + 1] || k < b.offsets[row + 1]) {
            const bool of_a =
                k == b.offsets[row + 1] || (i < a.offsets[row + 1] && a.indices[i] <= b.indices[k]);
            const std::int64_t column = of_a ? a.indices[i] : b.indices[k];
            T sum{};
            if (i < a.offsets[row + 1] && a.indices[i] == column)
                sum += alpha * a.values[i++];
            if (k < b.offsets[row + 1] && b.indices[k] == column)
                sum += beta * b.values[k++];
            result.indices.push_back(column);
            result.values.push_back(sum);
        }
        result.offsets.push_back(result.count());
    }
    return result;
}

int base_of(const LegacyDescription *description) {
    require(description != nullptr, "descriptor");
    return description->base;
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

SOFTLIB_FUNCTION(cusparseSpGEMM_createDescr, (Descriptor * descriptor), {
    require(descriptor != nullptr, "the descriptor's address");
    *descriptor = std::make_unique<cusparseSpGEMMDescr>().release();
})
SOFTLIB_FUNCTION(cusparseSpGEMM_destroyDescr, (Descriptor descriptor), {
    checked_descriptor(descriptor).state = 0;
    delete descriptor;
})
SOFTLIB_FUNCTION(cusparseSpGEMM_getNumProducts, (Descriptor descriptor, std::int64_t *number), {
    require(number != nullptr, "the number's address");
    *number = checked_descriptor(descriptor).multiplications;
})

#define SPGEMM_PARAMETERS                                                                          \
    Handle handle, int op_a, int op_b, const void *alpha, SparseMatrix a, SparseMatrix b,          \
        const void *beta, SparseMatrix c, int type, int algorithm, Descriptor descriptor

// The first call with a buffer computes the product. _compute has the same operands.
CUSPARSE_DEFINE(cusparseSpGEMM_workEstimation, (SPGEMM_PARAMETERS, std::size_t *size, void *buffer),
                {
                    give_size(size);
                    checked_descriptor(descriptor).estimated = buffer != nullptr;
                    if (buffer == nullptr)
                        return;
                    with_compute_type(type, [&]<class T>(T) {
                        compute<T>(call, op_a, op_b, checked_descriptor(a), checked_descriptor(b),
                                   &checked_descriptor(c), descriptor);
                    });
                })
CUSPARSE_DEFINE(cusparseSpGEMM_estimateMemory,
                (SPGEMM_PARAMETERS, float, std::size_t *size3, void *, std::size_t *size2), {
                    give_size(size3);
                    if (size2 != nullptr)
                        give_size(size2);
                })
CUSPARSE_DEFINE(cusparseSpGEMM_compute, (SPGEMM_PARAMETERS, std::size_t *size, void *buffer), {
    give_size(size);
    if (buffer == nullptr || std::exchange(checked_descriptor(descriptor).estimated, false))
        return;
    with_compute_type(type, [&]<class T>(T) {
        compute<T>(call, op_a, op_b, checked_descriptor(a), checked_descriptor(b),
                   &checked_descriptor(c), descriptor);
    });
})
CUSPARSE_DEFINE(cusparseSpGEMM_copy, (SPGEMM_PARAMETERS), {
    with_compute_type(type, [&]<class T>(T) {
        write<T>(call, call.scalar<T>(alpha, type), call.scalar<T>(beta, type),
                 checked_descriptor(c), &checked_descriptor(descriptor));
    });
})

#define REUSE_PARAMETERS                                                                           \
    Handle handle, int op_a, int op_b, SparseMatrix a, SparseMatrix b, SparseMatrix c,             \
        int algorithm, Descriptor descriptor
CUSPARSE_DEFINE(cusparseSpGEMMreuse_workEstimation, (REUSE_PARAMETERS, std::size_t *size, void *),
                give_size(size))
CUSPARSE_DEFINE(cusparseSpGEMMreuse_nnz,
                (REUSE_PARAMETERS, std::size_t *size2, void *, std::size_t *size3, void *,
                 std::size_t *size4, void *buffer4),
                {
                    give_size(size2);
                    give_size(size3);
                    give_size(size4);
                    if (buffer4 != nullptr)
                        compute<double>(call, op_a, op_b, checked_descriptor(a),
                                        checked_descriptor(b), &checked_descriptor(c),
                                        &checked_descriptor(descriptor));
                })
CUSPARSE_DEFINE(cusparseSpGEMMreuse_copy, (REUSE_PARAMETERS, std::size_t *size, void *buffer), {
    give_size(size);
    if (buffer == nullptr)
        return;
    const Matrix to = checked_descriptor(c);
    require(checked_descriptor(descriptor).product != nullptr, "a product that was computed");
    to.check(call, "C");
    call.enqueue(1e7, [=, product = descriptor->product] {
        write_rows(*static_cast<const Rows<double> *>(product.get()), to, false);
    });
})
CUSPARSE_DEFINE(cusparseSpGEMMreuse_compute, (SPGEMM_PARAMETERS), {
    static_cast<void>(checked_descriptor(descriptor));
    const Matrix one = checked_descriptor(a), other = checked_descriptor(b);
    const Matrix to = checked_descriptor(c);
    check_shapes(op_a, op_b, one, other, to);
    one.check(call, "A");
    other.check(call, "B");
    to.check(call, "C");
    with_compute_type(type, [&]<class T>(T) {
        const Scalar<T> by = call.scalar<T>(alpha, type), keep = call.scalar<T>(beta, type);
        call.enqueue(1e7, [=] {
            std::int64_t multiplications = 0;
            Rows<T> result =
                multiplied(read_rows<T>(one, op_a), read_rows<T>(other, op_b), multiplications);
            if (result.count() != to.count)
                throw Failure(statuses.execution_failed, "the pattern of the product has changed");
            MutableElements<T> values(to.type, to.values, to.count);
            for (std::int64_t k = 0; k < to.count; ++k) {
                T &value = values.data()[k];
                value =
                    by.get() * result.values[k] + (keep.get() == T{} ? T{} : keep.get() * value);
            }
            values.store();
        });
    });
})

// The sum of two matrices, by the older functions.
CUSPARSE_DEFINE(
    cusparseXcsrgeam2Nnz,
    (Handle handle, int m, int n, const LegacyDescription *of_a, int count_a, const int *offsets_a,
     const int *indices_a, const LegacyDescription *of_b, int count_b, const int *offsets_b,
     const int *indices_b, const LegacyDescription *of_c, int *offsets_c, int *total, void *),
    {
        const Legacy<float> left{count_a, nullptr, offsets_a, indices_a, base_of(of_a)};
        const Legacy<float> right{count_b, nullptr, offsets_b, indices_b, base_of(of_b)};
        Matrix a = left.matrix(call, m, n, "A"), b = right.matrix(call, m, n, "B");
        const int base = base_of(of_c);
        call.check(offsets_c, Count(m) + 1, "the offsets of C");
        call.give_count(total, [=] {
            Matrix first = a, second = b;
            const std::vector<float> none(static_cast<std::size_t>(std::max(a.count, b.count)));
            first.values = second.values = const_cast<float *>(none.data());
            Rows<float> x = read_rows<float>(first, 0), y = read_rows<float>(second, 0);
            x.sort();
            y.sort();
            const Rows<float> sum = added(x, 1.0F, y, 1.0F);
            for (int row = 0; row <= m; ++row)
                offsets_c[row] = static_cast<int>(sum.offsets[row]) + base;
            return static_cast<int>(sum.count());
        });
    })

#define GEAM(letter, T)                                                                            \
    CUSPARSE_DEFINE(cusparse##letter##csrgeam2_bufferSizeExt,                                      \
                    (Handle handle, int, int, const T *, const LegacyDescription *, int,           \
                     const T *, const int *, const int *, const T *, const LegacyDescription *,    \
                     int, const T *, const int *, const int *, const LegacyDescription *,          \
                     const T *, const int *, const int *, std::size_t *size),                      \
                    give_size(size))                                                               \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##csrgeam2,                                                                \
        (Handle handle, int m, int n, const T *alpha, const LegacyDescription *of_a, int count_a,  \
         const T *values_a, const int *offsets_a, const int *indices_a, const T *beta,             \
         const LegacyDescription *of_b, int count_b, const T *values_b, const int *offsets_b,      \
         const int *indices_b, const LegacyDescription *of_c, T *values_c, int *offsets_c,         \
         int *indices_c, void *),                                                                  \
        {                                                                                          \
            const Legacy<T> left{count_a, values_a, offsets_a, indices_a, base_of(of_a)};          \
            const Legacy<T> right{count_b, values_b, offsets_b, indices_b, base_of(of_b)};         \
            geam<T>(call, m, n, alpha, left, beta, right,                                          \
                    {0, values_c, offsets_c, indices_c, base_of(of_c)});                           \
        })

namespace {
template <class T>
void geam(const Call &call, int m, int n, const T *alpha, const Legacy<T> &left, const T *beta,
          const Legacy<T> &right, const Legacy<T> &result) {
    const Matrix a = left.matrix(call, m, n, "A"), b = right.matrix(call, m, n, "B");
    Matrix c = result.matrix(call, m, n, "C");
    const Scalar<T> by = call.scalar<T>(alpha, number_of<T>),
                    other = call.scalar<T>(beta, number_of<T>);
    // The least that C has; the rest is checked when the number of elements is known.
    call.check(result.indices, std::max(left.count, right.count), "the indices of C");
    call.check(result.values, std::max(left.count, right.count), "the values of C");
    call.enqueue(static_cast<double>(left.count) + right.count + m, [=] {
        Rows<T> x = read_rows<T>(a, 0), y = read_rows<T>(b, 0);
        x.sort();
        y.sort();
        const Rows<T> sum = added(x, by.get(), y, other.get());
        Matrix to = c;
        to.count = sum.count();
        const auto count = static_cast<std::size_t>(sum.count());
        if (!softlib::is_readable(result.indices, count * sizeof(int)) ||
            !softlib::is_readable(result.values, count * sizeof(T)))
            throw Failure(statuses.execution_failed,
                          "C has no room for " + std::to_string(count) + " elements");
        write_rows(sum, to);
    });
}
} // namespace

GEAM(S, float)
GEAM(D, double)
GEAM(C, Complex)
GEAM(Z, DoubleComplex)
