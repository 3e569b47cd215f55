// vectors.cpp -- operations of a sparse and a dense vector.
#include "matrix.h"

#include <algorithm>
#include <cstring>

namespace softcusparse {
namespace {

void check(const Call &call, const Vector &x, const Dense &y) {
    require(x.size == y.rows, "the sizes of the vectors");
    x.check(call, "x");
    y.check(call, "y");
}

/// The place in a dense vector of a sparse vector's element.
std::int64_t place(const Vector &x, std::int64_t k) {
    const std::int64_t i = x.indices[k];
    if (i < 0 || i >= x.size)
        throw Failure(statuses.execution_failed,
                      "index " + std::to_string(i) + " is outside of the vector");
    return i;
}

double length(const Vector &x, const Dense &y) { return static_cast<double>(x.count + y.rows); }

enum class Direction { Gather, Scatter };

/// Copies the elements of x from their places in y, or to these places.
void move_elements(const Call &call, Direction direction, const Vector &x, const Dense &y) {
    check(call, x, y);
    require(x.type == y.type, "one type of the vectors");
    call.enqueue(length(x, y), [=] {
        const std::size_t size = softlib::size_of(x.type);
        for (std::int64_t k = 0; k < x.count; ++k) {
            auto *const packed =
                static_cast<std::byte *>(x.values) + static_cast<std::size_t>(k) * size;
            auto *const spread =
                static_cast<std::byte *>(y.values) + static_cast<std::size_t>(place(x, k)) * size;
            if (direction == Direction::Gather)
                std::memcpy(packed, spread, size);
            else
                std::memcpy(spread, packed, size);
        }
    });
}

} // namespace
} // namespace softcusparse

using namespace softcusparse;

CUSPARSE_DEFINE(cusparseAxpby,
                (Handle handle, const void *alpha, SparseVector x, const void *beta, DenseVector y),
                {
                    const Vector from = checked_descriptor(x);
                    const Dense to = checked_descriptor(y);
                    check(call, from, to);
                    with_compute_type(static_cast<int>(to.type), [&]<class T>(T) {
                        const Scalar<T> by = call.scalar<T>(alpha, static_cast<int>(to.type)),
                                        keep = call.scalar<T>(beta, static_cast<int>(to.type));
                        call.enqueue(length(from, to), [=] {
                            const Elements<T> values(from.type, from.values, from.count);
                            MutableElements<T> result(to.type, to.values, to.rows);
                            const T scale = keep.get(), factor = by.get();
                            for (std::int64_t i = 0; i < to.rows; ++i)
                                result.data()[i] = scale == T{} ? T{} : scale * result.data()[i];
                            for (std::int64_t k = 0; k < from.count; ++k)
                                result.data()[place(from, k)] += factor * values[k];
                            result.store();
                        });
                    });
                })

CUSPARSE_DEFINE(cusparseGather, (Handle handle, DenseVector y, SparseVector x),
                move_elements(call, Direction::Gather, checked_descriptor(x),
                              checked_descriptor(y)))
CUSPARSE_DEFINE(cusparseScatter, (Handle handle, SparseVector x, DenseVector y),
                move_elements(call, Direction::Scatter, checked_descriptor(x),
                              checked_descriptor(y)))

CUSPARSE_DEFINE(cusparseRot,
                (Handle handle, const void *c, const void *s, SparseVector x, DenseVector y), {
                    const Vector one = checked_descriptor(x);
                    const Dense other = checked_descriptor(y);
                    check(call, one, other);
                    with_compute_type(static_cast<int>(other.type), [&]<class T>(T) {
                        const Scalar<T> cosine = call.scalar<T>(c, static_cast<int>(other.type)),
                                        sine = call.scalar<T>(s, static_cast<int>(other.type));
                        call.enqueue(length(one, other), [=] {
                            MutableElements<T> left(one.type, one.values, one.count);
                            MutableElements<T> right(other.type, other.values, other.rows);
                            for (std::int64_t k = 0; k < one.count; ++k) {
                                T &a = left.data()[k], &b = right.data()[place(one, k)];
                                const T turned = cosine.get() * a + sine.get() * b;
                                b = cosine.get() * b - sine.get() * a;
                                a = turned;
                            }
                            left.store();
                            right.store();
                        });
                    });
                })

CUSPARSE_DEFINE(cusparseSpVV_bufferSize,
                (Handle handle, int, SparseVector, DenseVector, const void *, int,
                 std::size_t *size),
                give_size(size))
CUSPARSE_DEFINE(
    cusparseSpVV,
    (Handle handle, int op, SparseVector x, DenseVector y, void *result, int type, void *), {
        check_operation(op);
        const Vector one = checked_descriptor(x);
        const Dense other = checked_descriptor(y);
        check(call, one, other);
        require(result != nullptr, "the result's address");
        with_compute_type(type, [&]<class T>(T) {
            const auto sum = [=] {
                const Elements<T> left(one.type, one.values, one.count);
                const Elements<T> right(other.type, other.values, other.rows);
                T total{};
                for (std::int64_t k = 0; k < one.count; ++k)
                    total += (op == 2 ? conjugate(left[k]) : left[k]) * right[place(one, k)];
                softlib::narrow_to(static_cast<ElementType>(type),
                                   reinterpret_cast<const Real<T> *>(&total), result,
                                   is_complex<T> ? 2 : 1);
            };
            if (call.scalars_on_device()) {
                call.bytes(
                    result,
                    static_cast<std::int64_t>(softlib::size_of(static_cast<ElementType>(type))),
                    "the result");
                call.enqueue(length(one, other), sum);
            } else {
                call.run(sum);
            }
        });
    })

// y = alpha op(A) x + beta y of a dense matrix and a sparse vector.
#define GEMVI(letter, T)                                                                           \
    CUSPARSE_DEFINE(cusparse##letter##gemvi_bufferSize,                                            \
                    (Handle handle, int, int, int, int, int *size), give_size(size))               \
    CUSPARSE_DEFINE(                                                                               \
        cusparse##letter##gemvi,                                                                   \
        (Handle handle, int op, int m, int n, const T *alpha, const T *a, int lda, int count,      \
         const T *values, const int *indices, const T *beta, T *y, int base, void *),              \
        gemvi<T>(call, op, m, n, alpha, a, lda, count, values, indices, beta, y, base))

namespace {
template <class T>
void gemvi(const Call &call, int op, int m, int n, const T *alpha, const T *a, int lda, int count,
           const T *values, const int *indices, const T *beta, T *y, int base) {
    check_operation(op);
    require(m >= 0 && n >= 0 && lda >= std::max(m, 1) && count >= 0, "the sizes");
    const int length = op == 0 ? m : n;
    call.check(a, extent(m, n, lda), "A");
    call.check(values, count, "the values of x");
    call.check(indices, count, "the indices of x");
    call.check(y, length, "y");
    const Scalar<T> by = call.scalar<T>(alpha, number_of<T>),
                    keep = call.scalar<T>(beta, number_of<T>);
    call.enqueue(static_cast<double>(length) * count, [=] {
        for (std::int64_t i = 0; i < length; ++i) {
            T sum{};
            for (int k = 0; k < count; ++k) {
                const std::int64_t j = indices[k] - base;
                if (j < 0 || j >= (op == 0 ? n : m))
                    throw Failure(statuses.execution_failed, "an index of x is outside of A");
                const T element = op == 0 ? a[i + j * lda] : a[j + i * lda];
                sum += (op == 2 ? conjugate(element) : element) * values[k];
            }
            y[i] = by.get() * sum + (keep.get() == T{} ? T{} : keep.get() * y[i]);
        }
    });
}
} // namespace

GEMVI(S, float)
GEMVI(D, double)
GEMVI(C, Complex)
GEMVI(Z, DoubleComplex)
