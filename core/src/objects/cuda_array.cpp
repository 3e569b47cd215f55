// cuda_array.cpp -- CUDA arrays and mipmaps.
#include <pycuda/cuda_array.h>

#include <pycuda/driver.h>

#include <string>

namespace pycuda {

CUresult detail::destroy_cuda_array(CUarray array) { return driver().cuArrayDestroy.status(array); }

CUresult detail::destroy_mipmapped_array(CUmipmappedArray array) {
    return driver().cuMipmappedArrayDestroy.status(array);
}

namespace {

std::string describe(std::size_t width, std::size_t height, std::size_t depth, int format,
                     unsigned channels) {
    return std::to_string(width) + " x " + std::to_string(height) + " x " + std::to_string(depth) +
           " elements of " + std::to_string(channels) + " channels, format " +
           std::to_string(format);
}

std::string describe(const CUDA_ARRAY3D_DESCRIPTOR &d) {
    return describe(d.Width, d.Height, d.Depth, d.Format, d.NumChannels);
}

CUarray create(const CUDA_ARRAY_DESCRIPTOR &description) {
    CUarray handle = nullptr;
    check(driver().cuArrayCreate.status(&handle, &description), "cuArrayCreate", [&] {
        return describe(description.Width, description.Height, 0, description.Format,
                        description.NumChannels);
    });
    return handle;
}

CUarray create(const CUDA_ARRAY3D_DESCRIPTOR &description) {
    CUarray handle = nullptr;
    check(driver().cuArray3DCreate.status(&handle, &description), "cuArray3DCreate",
          [&] { return describe(description); });
    return handle;
}

CUmipmappedArray create(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels) {
    CUmipmappedArray handle = nullptr;
    check(driver().cuMipmappedArrayCreate.status(&handle, &description, levels),
          "cuMipmappedArrayCreate",
          [&] { return describe(description) + ", " + std::to_string(levels) + " levels"; });
    return handle;
}

} // namespace

std::size_t bytes_of_format(CUarray_format format) noexcept {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

CudaArray::CudaArray(const CUDA_ARRAY_DESCRIPTOR &description)
    : CudaArray(Owner::adopt(create(description), Context::require_current())) {}

CudaArray::CudaArray(const CUDA_ARRAY3D_DESCRIPTOR &description)
    : CudaArray(Owner::adopt(create(description), Context::require_current())) {}

CudaArray CudaArray::borrow(CUarray handle, Context context) {
    return CudaArray(Owner::borrow(handle, std::move(context)));
}

CUDA_ARRAY_DESCRIPTOR CudaArray::description() const {
    CUDA_ARRAY_DESCRIPTOR description{};
    driver().cuArrayGetDescriptor(&description, handle_.live("array"));
    return description;
}

CUDA_ARRAY3D_DESCRIPTOR CudaArray::description_3d() const {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    driver().cuArray3DGetDescriptor(&description, handle_.live("array"));
    return description;
}

void CudaArray::free() {
    if (freed())
        throw Error("array::free", CUDA_ERROR_INVALID_HANDLE, "the array was freed before");
    handle_.reset();
}

MipmappedArray::MipmappedArray(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels)
    : handle_(Owner::adopt(create(description, levels), Context::require_current())),
      levels_(levels) {}

CUmipmappedArray MipmappedArray::get() const {
    if (freed())
        throw Error("mipmapped_array", CUDA_ERROR_INVALID_HANDLE,
                    "the mipmapped array was freed before");
    return handle_.live("mipmapped array");
}

void MipmappedArray::free() {
    static_cast<void>(get());
    handle_.reset();
}

CudaArray MipmappedArray::level(unsigned level) const {
    CUarray handle = nullptr;
    check(driver().cuMipmappedArrayGetLevel.status(&handle, get(), level),
          "cuMipmappedArrayGetLevel",
          [&] { return "level " + std::to_string(level) + " of " + std::to_string(levels_); });
    return CudaArray::borrow(handle, context());
}

} // namespace pycuda
