// transfer.cpp -- cuBLAS's copies of vectors and matrices between the host and the device.
#include "handle.h"

namespace softcublas {
namespace {

using softlib::absolute;

/// A copy of `rows` rows of `width` bytes each; addresses of the device and the host are
/// distinguished by the driver.
void copy_rows(const void *from, std::int64_t from_pitch, void *to, std::int64_t to_pitch,
               std::int64_t width, std::int64_t rows, const CUstream *stream) {
    require(from != nullptr && to != nullptr, "the addresses");
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(from);
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(to);
    copy.srcPitch = static_cast<std::size_t>(from_pitch);
    copy.dstPitch = static_cast<std::size_t>(to_pitch);
    copy.WidthInBytes = static_cast<std::size_t>(width);
    copy.Height = static_cast<std::size_t>(rows);
    if (const CUresult result =
            stream ? cuMemcpy2DAsync(&copy, *stream) : cuMemcpy2DUnaligned(&copy);
        result != CUDA_SUCCESS)
        throw Failure(11, "the copy failed"); // CUBLAS_STATUS_MAPPING_ERROR
}

void copy_vector(std::int64_t n, std::int64_t size, const void *x, std::int64_t incx, void *y,
                 std::int64_t incy, const CUstream *stream = nullptr) {
    require(n >= 0 && size > 0 && incx != 0 && incy != 0, "n, the element's size, incx, incy");
    if (n > 0)
        copy_rows(x, (absolute(incx) * size).get(), y, (absolute(incy) * size).get(), size, n,
                  stream);
}

void copy_matrix(std::int64_t rows, std::int64_t columns, std::int64_t size, const void *a,
                 std::int64_t lda, void *b, std::int64_t ldb, const CUstream *stream = nullptr) {
    require(rows >= 0 && columns >= 0 && size > 0, "rows, columns, the element's size");
    require(lda >= std::max<std::int64_t>(1, rows) && ldb >= std::max<std::int64_t>(1, rows),
            "lda, ldb");
    if (rows > 0 && columns > 0)
        copy_rows(a, (Count(lda) * size).get(), b, (Count(ldb) * size).get(),
                  (Count(rows) * size).get(), columns, stream);
}

} // namespace
} // namespace softcublas

#define COPY_FORM(suffix, I, which)                                                                \
    SOFTLIB_EXPORT int cublas##which##Vector##suffix(I n, I size, const void *x, I incx, void *y,  \
                                                     I incy) {                                     \
        return softlib::guarded("cublas" #which "Vector" #suffix,                                  \
                                [&] { softcublas::copy_vector(n, size, x, incx, y, incy); });      \
    }                                                                                              \
    SOFTLIB_EXPORT int cublas##which##Matrix##suffix(I rows, I columns, I size, const void *a,     \
                                                     I lda, void *b, I ldb) {                      \
        return softlib::guarded("cublas" #which "Matrix" #suffix, [&] {                            \
            softcublas::copy_matrix(rows, columns, size, a, lda, b, ldb);                          \
        });                                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cublas##which##VectorAsync##suffix(I n, I size, const void *x, I incx,      \
                                                          void *y, I incy, CUstream stream) {      \
        return softlib::guarded("cublas" #which "VectorAsync" #suffix, [&] {                       \
            softcublas::copy_vector(n, size, x, incx, y, incy, &stream);                           \
        });                                                                                        \
    }                                                                                              \
    SOFTLIB_EXPORT int cublas##which##MatrixAsync##suffix(                                         \
        I rows, I columns, I size, const void *a, I lda, void *b, I ldb, CUstream stream) {        \
        return softlib::guarded("cublas" #which "MatrixAsync" #suffix, [&] {                       \
            softcublas::copy_matrix(rows, columns, size, a, lda, b, ldb, &stream);                 \
        });                                                                                        \
    }
COPY_FORM(, int, Set)
COPY_FORM(_64, std::int64_t, Set)
COPY_FORM(, int, Get)
COPY_FORM(_64, std::int64_t, Get)
