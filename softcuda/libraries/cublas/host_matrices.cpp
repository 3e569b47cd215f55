// host_matrices.cpp -- cublasXt: products of matrices in the host's memory.
//
// A call returns when the result is written. Devices, tiles and the part of the host's processor
// are settings that results do not depend on; they are kept.
#include "handle.h"

#include <algorithm>
#include <vector>

/// cublasXtHandle_t points to it.
struct cublasXtContext {
    static constexpr std::uint32_t alive = 0x5c0b1a7;
    static constexpr bool needs_openblas = true;

    std::uint32_t state = alive;
    int block = 2048;
    int pinning = 0;
    std::vector<int> devices;
};

namespace softcublas {
namespace {

using XtHandle = cublasXtContext *;
using Size = std::size_t;
using softlib::blas;
using softlib::column_major;
using softlib::Name;
using softlib::scalar;

/// Throws Failure unless the process can read a matrix.
template <class T>
void check_host(const T *data, std::int64_t rows, std::int64_t columns, Size leading,
                const char *what) {
    require(static_cast<std::int64_t>(leading) >= std::max<std::int64_t>(1, rows), what);
    const Count bytes = extent(rows, columns, static_cast<std::int64_t>(leading)) * sizeof(T);
    require(softlib::is_readable(data, static_cast<Size>(bytes.get())), what);
}

int size(Size value) {
    return narrow(static_cast<std::int64_t>(std::min<Size>(value, Count::most().get())));
}

template <class T>
void multiply(int op_a, int op_b, Size m, Size n, Size k, const T *alpha, const T *a, Size lda,
              const T *b, Size ldb, const T *beta, T *c, Size ldc) {
    const int trans_a = operation<T>(op_a), trans_b = operation<T>(op_b);
    require(alpha != nullptr && beta != nullptr, "alpha, beta");
    const int rows = size(m), columns = size(n), inner = size(k);
    check_host(a, op_a == 0 ? rows : inner, op_a == 0 ? inner : rows, lda, "A");
    check_host(b, op_b == 0 ? inner : columns, op_b == 0 ? columns : inner, ldb, "B");
    check_host(c, rows, columns, ldc, "C");
    blas<void, "?gemm", T>(column_major, trans_a, trans_b, rows, columns, inner, scalar(*alpha), a,
                           size(lda), b, size(ldb), scalar(*beta), c, size(ldc));
}

template <Name name, class T>
void multiply_symmetric(int side, int mode, Size m, Size n, const T *alpha, const T *a, Size lda,
                        const T *b, Size ldb, const T *beta, T *c, Size ldc) {
    const int place = side_of(side), triangle = fill(mode);
    require(alpha != nullptr && beta != nullptr, "alpha, beta");
    const int rows = size(m), columns = size(n), order = side == 0 ? rows : columns;
    check_host(a, order, order, lda, "A");
    check_host(b, rows, columns, ldb, "B");
    check_host(c, rows, columns, ldc, "C");
    blas<void, name, T>(column_major, place, triangle, rows, columns, scalar(*alpha), a, size(lda),
                        b, size(ldb), scalar(*beta), c, size(ldc));
}

/// syrk and herk; F is the type of the factors.
template <Name name, class T, class F>
void square(int mode, int op, Size n, Size k, const F *alpha, const T *a, Size lda, const F *beta,
            T *c, Size ldc) {
    const int triangle = fill(mode), trans = operation<T>(op);
    // Complex: a symmetric update is not conjugated, a Hermitian one is.
    require(!is_complex<T> || op == 0 || op == (std::is_same_v<F, T> ? 1 : 2), "operation");
    require(alpha != nullptr && beta != nullptr, "alpha, beta");
    const int order = size(n), inner = size(k);
    check_host(a, op == 0 ? order : inner, op == 0 ? inner : order, lda, "A");
    check_host(c, order, order, ldc, "C");
    blas<void, name, T>(column_major, triangle, trans, order, inner, scalar(*alpha), a, size(lda),
                        scalar(*beta), c, size(ldc));
}

/// syr2k and her2k.
template <Name name, class T, class F>
void square_of_two(int mode, int op, Size n, Size k, const T *alpha, const T *a, Size lda,
                   const T *b, Size ldb, const F *beta, T *c, Size ldc) {
    const int triangle = fill(mode), trans = operation<T>(op);
    // Complex: a symmetric update is not conjugated, a Hermitian one is.
    require(!is_complex<T> || op == 0 || op == (std::is_same_v<F, T> ? 1 : 2), "operation");
    require(alpha != nullptr && beta != nullptr, "alpha, beta");
    const int order = size(n), inner = size(k);
    check_host(a, op == 0 ? order : inner, op == 0 ? inner : order, lda, "A");
    check_host(b, op == 0 ? order : inner, op == 0 ? inner : order, ldb, "B");
    check_host(c, order, order, ldc, "C");
    blas<void, name, T>(column_major, triangle, trans, order, inner, scalar(*alpha), a, size(lda),
                        b, size(ldb), scalar(*beta), c, size(ldc));
}

template <Name name, class T>
void of_triangle(int side, int mode, int op, int diag, Size m, Size n, const T *alpha, const T *a,
                 Size lda, T *b, Size ldb) {
    const int place = side_of(side), triangle = fill(mode), trans = operation<T>(op);
    const int ones = diagonal(diag);
    require(alpha != nullptr, "alpha");
    const int rows = size(m), columns = size(n), order = side == 0 ? rows : columns;
    check_host(a, order, order, lda, "A");
    check_host(b, rows, columns, ldb, "B");
    blas<void, name, T>(column_major, place, triangle, trans, ones, rows, columns, scalar(*alpha),
                        a, size(lda), b, size(ldb));
}

/// trmm, whose result is another matrix than B.
template <class T>
void multiply_triangle(int side, int mode, int op, int diag, Size m, Size n, const T *alpha,
                       const T *a, Size lda, const T *b, Size ldb, T *c, Size ldc) {
    const int rows = size(m), columns = size(n);
    static_cast<void>(side_of(side));
    static_cast<void>(fill(mode));
    static_cast<void>(operation<T>(op));
    static_cast<void>(diagonal(diag));
    require(alpha != nullptr, "alpha");
    check_host(a, side == 0 ? rows : columns, side == 0 ? rows : columns, lda, "A");
    check_host(b, rows, columns, ldb, "B");
    check_host(c, rows, columns, ldc, "C");
    for (Size j = 0; b != c && j < n; ++j)
        std::copy_n(b + j * ldb, m, c + j * ldc);
    of_triangle<"?trmm">(side, mode, op, diag, m, n, alpha, a, lda, c, ldc);
}

} // namespace
} // namespace softcublas

using softcublas::Complex;
using softcublas::DoubleComplex;
using softcublas::Real;
using softcublas::Size;
using softcublas::XtHandle;
using softlib::checked;
using softlib::require;

#define XT_DEFINE(name, parameters, ...)                                                           \
    SOFTLIB_FUNCTION(cublasXt##name, parameters, static_cast<void>(checked(handle)); __VA_ARGS__)

SOFTLIB_FUNCTION(cublasXtCreate, (XtHandle * handle), softlib::make_handle(handle))
XT_DEFINE(Destroy, (XtHandle handle), softlib::destroy(handle))
XT_DEFINE(DeviceSelect, (XtHandle handle, int count, int *devices), {
    int existing = 0;
    softlib::check_driver(cuInit(0), "cuInit");
    softlib::check_driver(cuDeviceGetCount(&existing), "cuDeviceGetCount");
    require(count >= 1 && count <= existing && devices != nullptr &&
                std::all_of(devices, devices + count,
                            [&](int device) { return device >= 0 && device < existing; }),
            "devices");
    handle->devices.assign(devices, devices + count);
})
XT_DEFINE(SetBlockDim, (XtHandle handle, int size), {
    require(size > 0, "blockDim");
    handle->block = size;
})
XT_DEFINE(GetBlockDim, (XtHandle handle, int *size), {
    require(size != nullptr, "blockDim");
    *size = handle->block;
})
XT_DEFINE(SetPinningMemMode, (XtHandle handle, int mode), {
    require(mode == 0 || mode == 1, "mode");
    handle->pinning = mode;
})
XT_DEFINE(GetPinningMemMode, (XtHandle handle, int *mode), {
    require(mode != nullptr, "mode");
    *mode = handle->pinning;
})

#define FOR_ALL(S, T)                                                                              \
    XT_DEFINE(S##gemm,                                                                             \
              (XtHandle handle, int op_a, int op_b, Size m, Size n, Size k, const T *alpha,        \
               const T *a, Size lda, const T *b, Size ldb, const T *beta, T *c, Size ldc),         \
              softcublas::multiply(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))      \
    XT_DEFINE(S##symm,                                                                             \
              (XtHandle handle, int side, int mode, Size m, Size n, const T *alpha, const T *a,    \
               Size lda, const T *b, Size ldb, const T *beta, T *c, Size ldc),                     \
              softcublas::multiply_symmetric<"?symm">(side, mode, m, n, alpha, a, lda, b, ldb,     \
                                                      beta, c, ldc))                               \
    XT_DEFINE(S##syrk,                                                                             \
              (XtHandle handle, int mode, int op, Size n, Size k, const T *alpha, const T *a,      \
               Size lda, const T *beta, T *c, Size ldc),                                           \
              softcublas::square<"?syrk">(mode, op, n, k, alpha, a, lda, beta, c, ldc))            \
    XT_DEFINE(                                                                                     \
        S##syr2k,                                                                                  \
        (XtHandle handle, int mode, int op, Size n, Size k, const T *alpha, const T *a, Size lda,  \
         const T *b, Size ldb, const T *beta, T *c, Size ldc),                                     \
        softcublas::square_of_two<"?syr2k">(mode, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc))  \
    XT_DEFINE(                                                                                     \
        S##trsm,                                                                                   \
        (XtHandle handle, int side, int mode, int op, int diagonal, Size m, Size n,                \
         const T *alpha, const T *a, Size lda, T *b, Size ldb),                                    \
        softcublas::of_triangle<"?trsm">(side, mode, op, diagonal, m, n, alpha, a, lda, b, ldb))   \
    XT_DEFINE(S##trmm,                                                                             \
              (XtHandle handle, int side, int mode, int op, int diagonal, Size m, Size n,          \
               const T *alpha, const T *a, Size lda, const T *b, Size ldb, T *c, Size ldc),        \
              softcublas::multiply_triangle(side, mode, op, diagonal, m, n, alpha, a, lda, b, ldb, \
                                            c, ldc))
FOR_ALL(S, float)
FOR_ALL(D, double)
FOR_ALL(C, Complex)
FOR_ALL(Z, DoubleComplex)

#define FOR_COMPLEX(S, T)                                                                          \
    XT_DEFINE(S##hemm,                                                                             \
              (XtHandle handle, int side, int mode, Size m, Size n, const T *alpha, const T *a,    \
               Size lda, const T *b, Size ldb, const T *beta, T *c, Size ldc),                     \
              softcublas::multiply_symmetric<"?hemm">(side, mode, m, n, alpha, a, lda, b, ldb,     \
                                                      beta, c, ldc))                               \
    XT_DEFINE(S##herk,                                                                             \
              (XtHandle handle, int mode, int op, Size n, Size k, const Real<T> *alpha,            \
               const T *a, Size lda, const Real<T> *beta, T *c, Size ldc),                         \
              softcublas::square<"?herk">(mode, op, n, k, alpha, a, lda, beta, c, ldc))            \
    XT_DEFINE(                                                                                     \
        S##her2k,                                                                                  \
        (XtHandle handle, int mode, int op, Size n, Size k, const T *alpha, const T *a, Size lda,  \
         const T *b, Size ldb, const Real<T> *beta, T *c, Size ldc),                               \
        softcublas::square_of_two<"?her2k">(mode, op, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
FOR_COMPLEX(C, Complex)
FOR_COMPLEX(Z, DoubleComplex)
