// multiply.cpp -- one product of matrices, by OpenBLAS.
//
// Matrices of narrow types are widened to float (integers to double, in which their sums are
// exact), multiplied, and rounded once.
#include "gemm.h"

#include <vector>

namespace softcublas {
namespace {

using softlib::blas;

template <class T>
void multiply_plain(const Shape &shape, const T &alpha, const T *a, std::int64_t lda, const T *b,
                    std::int64_t ldb, const T &beta, T *c, std::int64_t ldc) {
    blas<void, "?gemm", T>(softlib::column_major, operation<T>(shape.op_a),
                           operation<T>(shape.op_b), narrow(shape.m), narrow(shape.n),
                           narrow(shape.k), softlib::scalar(alpha), a, narrow(lda), b, narrow(ldb),
                           softlib::scalar(beta), c, narrow(ldc));
}

template <class T> Real<T> *parts(T *elements) { return reinterpret_cast<Real<T> *>(elements); }
template <class T> const Real<T> *parts(const T *elements) {
    return reinterpret_cast<const Real<T> *>(elements);
}

constexpr ElementType type_of(float) { return ElementType::Float32; }
constexpr ElementType type_of(double) { return ElementType::Float64; }
constexpr ElementType type_of(Complex) { return ElementType::Complex64; }
constexpr ElementType type_of(DoubleComplex) { return ElementType::Complex128; }

/// `rows` x `columns` elements of a matrix as T: the matrix itself, or a packed copy.
template <class T> class Wide {
  public:
    Wide(ElementType type, const void *data, std::int64_t rows, std::int64_t columns,
         std::int64_t leading)
        : data_(static_cast<const T *>(data)), leading_(leading) {
        if (type == type_of(T{}) || rows == 0 || columns == 0)
            return;
        copy_.resize(static_cast<std::size_t>(rows * columns));
        constexpr std::int64_t each = is_complex<T> ? 2 : 1;
        const std::size_t bytes = softlib::size_of(type);
        for (std::int64_t j = 0; j < columns; ++j)
            softlib::widen(type,
                           static_cast<const char *>(data) +
                               static_cast<std::size_t>(j * leading) * bytes,
                           parts(copy_.data() + j * rows), rows * each);
        data_ = copy_.data();
        leading_ = rows;
    }
    [[nodiscard]] const T *data() const { return data_; }
    [[nodiscard]] std::int64_t leading() const { return leading_; }

  private:
    std::vector<T> copy_;
    const T *data_;
    std::int64_t leading_;
};

template <class T> T scale_of(ElementType type, const void *address) {
    T value{};
    if (is_complex<T> == softlib::is_complex_type(type))
        softlib::widen(type, address, parts(&value), is_complex<T> ? 2 : 1);
    else
        softlib::widen(type, address, parts(&value), 1);
    return value;
}

/// Rounds alpha A B, in `sum`, plus beta C to C's type.
template <class T>
void store(const Shape &shape, ElementType type, const std::vector<T> &sum, const T &beta,
           void *c) {
    constexpr std::int64_t each = is_complex<T> ? 2 : 1;
    std::vector<T> column(static_cast<std::size_t>(shape.m));
    for (std::int64_t j = 0; j < shape.n; ++j) {
        char *const to = static_cast<char *>(c) +
                         static_cast<std::size_t>(j * shape.ldc) * softlib::size_of(type);
        if (beta != T{})
            softlib::widen(type, to, parts(column.data()), shape.m * each);
        for (std::int64_t i = 0; i < shape.m; ++i) {
            const T add = beta != T{} ? beta * column[static_cast<std::size_t>(i)] : T{};
            column[static_cast<std::size_t>(i)] =
                sum[static_cast<std::size_t>(i + j * shape.m)] + add;
        }
        softlib::narrow_to(type, parts(static_cast<const T *>(column.data())), to, shape.m * each);
    }
}

template <class T>
void multiply_as(const Shape &shape, const Types &types, const void *alpha, const void *a,
                 const void *b, const void *beta, void *c) {
    const T one = scale_of<T>(types.scale, alpha), two = scale_of<T>(types.scale, beta);
    const bool a_is_plain = shape.op_a == 0, b_is_plain = shape.op_b == 0;
    const Wide<T> left(types.a, a, a_is_plain ? shape.m : shape.k, a_is_plain ? shape.k : shape.m,
                       shape.lda);
    const Wide<T> right(types.b, b, b_is_plain ? shape.k : shape.n, b_is_plain ? shape.n : shape.k,
                        shape.ldb);
    if (types.c == type_of(T{}))
        return multiply_plain(shape, one, left.data(), left.leading(), right.data(),
                              right.leading(), two, static_cast<T *>(c), shape.ldc);
    std::vector<T> sum(static_cast<std::size_t>(shape.m * shape.n));
    multiply_plain(shape, one, left.data(), left.leading(), right.data(), right.leading(), T{},
                   sum.data(), shape.m);
    store(shape, types.c, sum, two, c);
}

} // namespace

void multiply(const Shape &shape, const Types &types, const void *alpha, const void *a,
              const void *b, const void *beta, void *c) {
    if (shape.m == 0 || shape.n == 0)
        return;
    switch (types.compute) {
    case ElementType::Float32:
        return multiply_as<float>(shape, types, alpha, a, b, beta, c);
    case ElementType::Float64:
        return multiply_as<double>(shape, types, alpha, a, b, beta, c);
    case ElementType::Complex64:
        return multiply_as<Complex>(shape, types, alpha, a, b, beta, c);
    default:
        return multiply_as<DoubleComplex>(shape, types, alpha, a, b, beta, c);
    }
}

void Shape::check() const {
    require(op_a >= 0 && op_a <= 2 && op_b >= 0 && op_b <= 2, "operation");
    require(m >= 0 && n >= 0 && k >= 0, "m, n, k");
    require(lda >= std::max<std::int64_t>(1, op_a == 0 ? m : k), "lda");
    require(ldb >= std::max<std::int64_t>(1, op_b == 0 ? k : n), "ldb");
    require(ldc >= std::max<std::int64_t>(1, m), "ldc");
}

Types Types::of(int a, int b, int c, int computation) {
    Types types = {static_cast<ElementType>(a), static_cast<ElementType>(b),
                   static_cast<ElementType>(c), ElementType::Float32, ElementType::Float32};
    for (const ElementType type : {types.a, types.b, types.c})
        if (softlib::size_of(type) == 0)
            throw Failure(statuses.not_supported,
                          "element type " + std::to_string(static_cast<int>(type)));
    const bool complex = softlib::is_complex_type(types.c);
    if (softlib::is_complex_type(types.a) != complex ||
        softlib::is_complex_type(types.b) != complex)
        throw Failure(statuses.not_supported, "products of real and complex matrices");
    switch (computation) {
    case 64: // CUBLAS_COMPUTE_16F and its pedantic form
    case 65:
        types.scale = ElementType::Float16;
        if (types.a != ElementType::Float16 || types.b != types.a || types.c != types.a)
            throw Failure(statuses.not_supported, "half precision sums of other types than half");
        return types;
    case 68: // CUBLAS_COMPUTE_32F, its pedantic form, and faster ones, down to TF32
    case 69:
    case 74:
    case 75:
    case 77:
    case 78: // CUBLAS_COMPUTE_32F_EMULATED_16BFX9
        types.compute = types.scale = complex ? ElementType::Complex64 : ElementType::Float32;
        return types;
    case 70: // CUBLAS_COMPUTE_64F
    case 71:
    case 79: // CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT
        types.compute = types.scale = complex ? ElementType::Complex128 : ElementType::Float64;
        return types;
    case 72: // CUBLAS_COMPUTE_32I
    case 73:
        if (types.a != ElementType::Int8 || types.b != ElementType::Int8)
            throw Failure(statuses.not_supported, "integer sums of other types than int8");
        types.scale = types.c == ElementType::Int32 ? ElementType::Int32 : ElementType::Float32;
        types.compute = ElementType::Float64;
        return types;
    default:
        throw Failure(statuses.not_supported, "compute type " + std::to_string(computation));
    }
}

} // namespace softcublas
