// gemm.cpp -- cuBLAS's products of general matrices: of one type and of mixed types, single,
// batched and strided.
#include "gemm.h"

#include <algorithm>
#include <string>
#include <vector>

namespace softcublas {
namespace {

using softlib::Half;

template <class T> constexpr ElementType element_type = ElementType::Float32;
template <> constexpr ElementType element_type<double> = ElementType::Float64;
template <> constexpr ElementType element_type<Complex> = ElementType::Complex64;
template <> constexpr ElementType element_type<DoubleComplex> = ElementType::Complex128;
template <> constexpr ElementType element_type<Half> = ElementType::Float16;

/// All matrices and scalars of type T.
template <class T> Types types_of() {
    constexpr ElementType type = element_type<T>;
    return {type, type, type, type, type == ElementType::Float16 ? ElementType::Float32 : type};
}

/// alpha or beta, of any type: copied from the host's memory, or read there at its turn.
class AnyScalar {
  public:
    AnyScalar(const Call &call, ElementType type, const void *address, const char *what) {
        require(address != nullptr, what);
        if (call.scalars_on_device()) {
            call.handle.session.check_memory(address, softlib::size_of(type), what);
            device_ = address;
        } else {
            std::copy_n(static_cast<const char *>(address), softlib::size_of(type), value_);
        }
    }
    [[nodiscard]] const void *address() const { return device_ != nullptr ? device_ : value_; }

  private:
    const void *device_ = nullptr;
    alignas(16) char value_[16] = {};
};

/// The matrices of a batch: one after the other with a constant distance in elements.
struct Strides {
    std::int64_t a = 0, b = 0, c = 0;
    std::int64_t count = 1;
};

/// Checks the matrices of a batch, of which each has `each` elements from the first to the last.
/// With a negative stride, the first matrix is the last one in memory.
void check_matrix(const Call &call, const void *data, ElementType type, Count each,
                  std::int64_t stride, std::int64_t count, const char *what) {
    if (each.get() == 0 || count == 0)
        return;
    const Count size = softlib::size_of(type);
    const Count last = Count(count - 1) * softlib::absolute(stride) * size;
    auto first = reinterpret_cast<std::uintptr_t>(data);
    if (data != nullptr && stride < 0)
        first -= static_cast<std::uintptr_t>(last.get());
    call.bytes(reinterpret_cast<const void *>(first), last + each * size, what);
}

void product(const Call &call, const Shape &shape, const Types &types, const void *alpha,
             const void *a, const void *b, const void *beta, void *c, const Strides &strides) {
    shape.check();
    require(strides.count >= 0, "the number of products");
    const AnyScalar first(call, types.scale, alpha, "alpha"),
        second(call, types.scale, beta, "beta");
    if (shape.m == 0 || shape.n == 0 || strides.count == 0)
        return;
    check_matrix(call, a, types.a, shape.extent_a(), strides.a, strides.count, "A");
    check_matrix(call, b, types.b, shape.extent_b(), strides.b, strides.count, "B");
    check_matrix(call, c, types.c, shape.extent_c(), strides.c, strides.count, "C");
    call.enqueue(operations(shape.m, shape.n, shape.k, strides.count), [=] {
        const auto at = [](auto *data, std::int64_t elements, ElementType type) {
            using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>,
                                            const char, char>;
            return static_cast<Byte *>(data) +
                   elements * static_cast<std::int64_t>(softlib::size_of(type));
        };
        for (std::int64_t i = 0; i < strides.count; ++i)
            multiply(shape, types, first.address(), at(a, i * strides.a, types.a),
                     at(b, i * strides.b, types.b), second.address(),
                     at(c, i * strides.c, types.c));
    });
}

void product_of_batch(const Call &call, const Shape &shape, const Types &types, const void *alpha,
                      const void *const *a, const void *const *b, const void *beta, void *const *c,
                      std::int64_t count) {
    shape.check();
    require(count >= 0, "the number of products");
    const AnyScalar first(call, types.scale, alpha, "alpha"),
        second(call, types.scale, beta, "beta");
    if (shape.m == 0 || shape.n == 0 || count == 0)
        return;
    call.check(a, count, "the addresses of A");
    call.check(b, count, "the addresses of B");
    call.check(c, count, "the addresses of C");
    call.enqueue(operations(shape.m, shape.n, shape.k, count), [=] {
        for (std::int64_t i = 0; i < count; ++i) {
            const auto check = [](const void *data, ElementType type, Count count,
                                  const char *what) {
                check_batched(static_cast<const char *>(data), count * softlib::size_of(type),
                              what);
            };
            check(a[i], types.a, shape.extent_a(), "A");
            check(b[i], types.b, shape.extent_b(), "B");
            check(c[i], types.c, shape.extent_c(), "C");
            multiply(shape, types, first.address(), a[i], b[i], second.address(), c[i]);
        }
    });
}

/// y = alpha op(A) x + beta y as the product of x^T, whose rows have one element of x each, with
/// op(A)^T.
Shape shape_of_vectors(int op, std::int64_t m, std::int64_t n, std::int64_t lda, std::int64_t incx,
                       std::int64_t incy) {
    require(op >= 0 && op <= 2 && m >= 0 && n >= 0 && lda >= std::max<std::int64_t>(1, m) &&
                incx != 0 && incy != 0,
            "trans, m, n, lda, incx, incy");
    if (incx < 0 || incy < 0)
        throw Failure(statuses.not_supported, "a negative increment of mixed types");
    return op == 0 ? Shape{0, 1, 1, m, n, incx, lda, incy} : Shape{0, 0, 1, n, m, incx, lda, incy};
}

template <class To, class From> To as(From pointer) { return reinterpret_cast<To>(pointer); }

/// Groups of batches: all arguments that describe a group are arrays in the host's memory.
template <class I> struct Groups {
    const int *op_a, *op_b;
    const I *m, *n, *k, *lda, *ldb, *ldc;
    const I *size;
    I count;
};

template <class I>
void product_of_groups(const Call &call, const Groups<I> &groups, const Types &types,
                       const void *alpha, const void *const *a, const void *const *b,
                       const void *beta, void *const *c) {
    require(groups.count >= 0, "the number of groups");
    const void *const arrays[] = {groups.op_a, groups.op_b, groups.m,   groups.n,
                                  groups.k,    groups.lda,  groups.ldb, groups.ldc,
                                  groups.size, alpha,       beta};
    const bool is_null = std::ranges::find(arrays, nullptr) != std::end(arrays);
    require(groups.count == 0 || !is_null, "the arrays of the groups");
    const std::size_t bytes = softlib::size_of(types.scale);
    std::int64_t done = 0;
    for (I i = 0; i < groups.count; ++i) {
        const Shape shape = {groups.op_a[i], groups.op_b[i], groups.m[i],   groups.n[i],
                             groups.k[i],    groups.lda[i],  groups.ldb[i], groups.ldc[i]};
        product_of_batch(call, shape, types, static_cast<const char *>(alpha) + i * bytes, a + done,
                         b + done, static_cast<const char *>(beta) + i * bytes, c + done,
                         groups.size[i]);
        done += groups.size[i];
    }
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Handle;
using softlib::Half;

#define PRODUCT(name, T)                                                                           \
    CUBLAS_FORMS(name,                                                                             \
                 (Handle handle, int op_a, int op_b, I m, I n, I k, const T *alpha, const T *a,    \
                  I lda, const T *b, I ldb, const T *beta, T *c, I ldc),                           \
                 product(call, {op_a, op_b, m, n, k, lda, ldb, ldc}, types_of<T>(), alpha, a, b,   \
                         beta, c, {}))
#define BATCHES(S, T)                                                                              \
    CUBLAS_FORMS(cublas##S##gemmStridedBatched,                                                    \
                 (Handle handle, int op_a, int op_b, I m, I n, I k, const T *alpha, const T *a,    \
                  I lda, long long stride_a, const T *b, I ldb, long long stride_b, const T *beta, \
                  T *c, I ldc, long long stride_c, I count),                                       \
                 product(call, {op_a, op_b, m, n, k, lda, ldb, ldc}, types_of<T>(), alpha, a, b,   \
                         beta, c, {stride_a, stride_b, stride_c, count}))                          \
    CUBLAS_FORMS(cublas##S##gemmBatched,                                                           \
                 (Handle handle, int op_a, int op_b, I m, I n, I k, const T *alpha,                \
                  const T *const *a, I lda, const T *const *b, I ldb, const T *beta, T *const *c,  \
                  I ldc, I count),                                                                 \
                 product_of_batch(call, {op_a, op_b, m, n, k, lda, ldb, ldc}, types_of<T>(),       \
                                  alpha, as<const void *const *>(a), as<const void *const *>(b),   \
                                  beta, as<void *const *>(c), count))
PRODUCT(cublasSgemm_v2, float)
PRODUCT(cublasDgemm_v2, double)
PRODUCT(cublasCgemm_v2, Complex)
PRODUCT(cublasZgemm_v2, DoubleComplex)
PRODUCT(cublasHgemm, Half)
PRODUCT(cublasCgemm3m, Complex)
PRODUCT(cublasZgemm3m, DoubleComplex)
BATCHES(S, float)
BATCHES(D, double)
BATCHES(C, Complex)
BATCHES(Z, DoubleComplex)
BATCHES(H, Half)
CUBLAS_FORMS(cublasCgemm3mStridedBatched,
             (Handle handle, int op_a, int op_b, I m, I n, I k, const Complex *alpha,
              const Complex *a, I lda, long long stride_a, const Complex *b, I ldb,
              long long stride_b, const Complex *beta, Complex *c, I ldc, long long stride_c,
              I count),
             product(call, {op_a, op_b, m, n, k, lda, ldb, ldc}, types_of<Complex>(), alpha, a, b,
                     beta, c, {stride_a, stride_b, stride_c, count}))
CUBLAS_FORMS(cublasCgemm3mBatched,
             (Handle handle, int op_a, int op_b, I m, I n, I k, const Complex *alpha,
              const Complex *const *a, I lda, const Complex *const *b, I ldb, const Complex *beta,
              Complex *const *c, I ldc, I count),
             product_of_batch(call, {op_a, op_b, m, n, k, lda, ldb, ldc}, types_of<Complex>(),
                              alpha, as<const void *const *>(a), as<const void *const *>(b), beta,
                              as<void *const *>(c), count))

// The number of cublasComputeType_t with which these functions compute.
#define PRODUCT_EX(name, T, computation)                                                           \
    CUBLAS_FORMS(name,                                                                             \
                 (Handle handle, int op_a, int op_b, I m, I n, I k, const T *alpha, const void *a, \
                  int type_a, I lda, const void *b, int type_b, I ldb, const T *beta, void *c,     \
                  int type_c, I ldc),                                                              \
                 product(call, {op_a, op_b, m, n, k, lda, ldb, ldc},                               \
                         Types::of(type_a, type_b, type_c, computation), alpha, a, b, beta, c,     \
                         {}))
PRODUCT_EX(cublasSgemmEx, float, 68)
PRODUCT_EX(cublasCgemmEx, Complex, 68)
PRODUCT_EX(cublasCgemm3mEx, Complex, 68)

// The last argument names an algorithm: there is one.
CUBLAS_FORMS(cublasGemmEx,
             (Handle handle, int op_a, int op_b, I m, I n, I k, const void *alpha, const void *a,
              int type_a, I lda, const void *b, int type_b, I ldb, const void *beta, void *c,
              int type_c, I ldc, int computation, int),
             product(call, {op_a, op_b, m, n, k, lda, ldb, ldc},
                     Types::of(type_a, type_b, type_c, computation), alpha, a, b, beta, c, {}))
CUBLAS_FORMS(cublasGemmStridedBatchedEx,
             (Handle handle, int op_a, int op_b, I m, I n, I k, const void *alpha, const void *a,
              int type_a, I lda, long long stride_a, const void *b, int type_b, I ldb,
              long long stride_b, const void *beta, void *c, int type_c, I ldc, long long stride_c,
              I count, int computation, int),
             product(call, {op_a, op_b, m, n, k, lda, ldb, ldc},
                     Types::of(type_a, type_b, type_c, computation), alpha, a, b, beta, c,
                     {stride_a, stride_b, stride_c, count}))
CUBLAS_FORMS(cublasGemmBatchedEx,
             (Handle handle, int op_a, int op_b, I m, I n, I k, const void *alpha,
              const void *const *a, int type_a, I lda, const void *const *b, int type_b, I ldb,
              const void *beta, void *const *c, int type_c, I ldc, I count, int computation, int),
             product_of_batch(call, {op_a, op_b, m, n, k, lda, ldb, ldc},
                              Types::of(type_a, type_b, type_c, computation), alpha, a, b, beta, c,
                              count))

#define GROUPS(S, T)                                                                               \
    CUBLAS_FORMS(cublas##S##gemmGroupedBatched,                                                    \
                 (Handle handle, const int *op_a, const int *op_b, const I *m, const I *n,         \
                  const I *k, const T *alpha, const T *const *a, const I *lda, const T *const *b,  \
                  const I *ldb, const T *beta, T *const *c, const I *ldc, I count, const I *size), \
                 product_of_groups<I>(call, {op_a, op_b, m, n, k, lda, ldb, ldc, size, count},     \
                                      types_of<T>(), alpha, as<const void *const *>(a),            \
                                      as<const void *const *>(b), beta, as<void *const *>(c)))
GROUPS(S, float)
GROUPS(D, double)
CUBLAS_FORMS(cublasGemmGroupedBatchedEx,
             (Handle handle, const int *op_a, const int *op_b, const I *m, const I *n, const I *k,
              const void *alpha, const void *const *a, int type_a, const I *lda,
              const void *const *b, int type_b, const I *ldb, const void *beta, void *const *c,
              int type_c, const I *ldc, I count, const I *size, int computation),
             product_of_groups<I>(call, {op_a, op_b, m, n, k, lda, ldb, ldc, size, count},
                                  Types::of(type_a, type_b, type_c, computation), alpha, a, b, beta,
                                  c))

// gemv of narrow types, with scalars and sums in float. The letters are the types of A and x, of
// the sums, and of y: H is half, T is bfloat16, S is float.
#define NARROW_VECTORS(letters, in, out)                                                           \
    CUBLAS_FORMS(cublas##letters##gemvBatched,                                                     \
                 (Handle handle, int op, I m, I n, const float *alpha, const void *const *a,       \
                  I lda, const void *const *x, I incx, const float *beta, void *const *y, I incy,  \
                  I count),                                                                        \
                 product_of_batch(call, shape_of_vectors(op, m, n, lda, incx, incy),               \
                                  {ElementType::in, ElementType::in, ElementType::out,             \
                                   ElementType::Float32, ElementType::Float32},                    \
                                  alpha, x, a, beta, y, count))                                    \
    CUBLAS_FORMS(cublas##letters##gemvStridedBatched,                                              \
                 (Handle handle, int op, I m, I n, const float *alpha, const void *a, I lda,       \
                  long long stride_a, const void *x, I incx, long long stride_x,                   \
                  const float *beta, void *y, I incy, long long stride_y, I count),                \
                 product(call, shape_of_vectors(op, m, n, lda, incx, incy),                        \
                         {ElementType::in, ElementType::in, ElementType::out,                      \
                          ElementType::Float32, ElementType::Float32},                             \
                         alpha, x, a, beta, y, {stride_x, stride_a, stride_y, count}))
NARROW_VECTORS(HSH, Float16, Float16)
NARROW_VECTORS(HSS, Float16, Float32)
NARROW_VECTORS(TST, BFloat16, BFloat16)
NARROW_VECTORS(TSS, BFloat16, Float32)
