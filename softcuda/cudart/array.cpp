// array.cpp -- arrays and mipmapped arrays. The device determines their memory layout.
#include "channel.h"

namespace softcudart {
namespace {

CUDA_ARRAY3D_DESCRIPTOR describe(const cudaChannelFormatDesc *format, cudaExtent extent,
                                 unsigned int flags) {
    require_non_null(format);
    const Channel channel = channel_of(*format);
    CUDA_ARRAY3D_DESCRIPTOR made{};
    made.Width = extent.width;
    made.Height = extent.height;
    made.Depth = extent.depth;
    made.Format = channel.format;
    made.NumChannels = channel.count;
    made.Flags = flags; // the bits are equal in both APIs
    return made;
}

CUarray handle(cudaArray_t array) noexcept { return as<CUarray>(array); }

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format,
                              cudaExtent extent, unsigned int flags) {
    return with_context([&] {
        require_non_null(array);
        const CUDA_ARRAY3D_DESCRIPTOR description = describe(format, extent, flags);
        check(cuArray3DCreate(as<CUarray *>(array), &description));
    });
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format,
                            std::size_t width, std::size_t height, unsigned int flags) {
    return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    return with_context([&] {
        if (array)
            check(cuArrayDestroy(handle(array)));
    });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array) {
    return with_context([&] {
        CUDA_ARRAY3D_DESCRIPTOR description{};
        check(cuArray3DGetDescriptor(&description, handle(array)));
        if (format)
            *format = description_of(description.Format, description.NumChannels);
        if (extent)
            *extent = {description.Width, description.Height, description.Depth};
        if (flags)
            *flags = description.Flags;
    });
}

cudaError_t cudaArrayGetPlane(cudaArray_t *plane, cudaArray_t array, unsigned int index) {
    return forward<cuArrayGetPlane>(as<CUarray *>(plane), handle(array), index);
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements *result, cudaArray_t array,
                                           int device) {
    return forward<cuArrayGetMemoryRequirements>(as<CUDA_ARRAY_MEMORY_REQUIREMENTS *>(result),
                                                 handle(array), device);
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties *result, cudaArray_t array) {
    return forward<cuArrayGetSparseProperties>(as<CUDA_ARRAY_SPARSE_PROPERTIES *>(result),
                                               handle(array));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
                                     const cudaChannelFormatDesc *format, cudaExtent extent,
                                     unsigned int levels, unsigned int flags) {
    return with_context([&] {
        require_non_null(array);
        const CUDA_ARRAY3D_DESCRIPTOR description = describe(format, extent, flags);
        check(cuMipmappedArrayCreate(as<CUmipmappedArray *>(array), &description, levels));
    });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    return with_context([&] {
        if (array)
            check(cuMipmappedArrayDestroy(as<CUmipmappedArray>(array)));
    });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array,
                                       unsigned int index) {
    return forward<cuMipmappedArrayGetLevel>(
        as<CUarray *>(level), as<CUmipmappedArray>(const_cast<cudaMipmappedArray *>(array)), index);
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements *result,
                                                    cudaMipmappedArray_t array, int device) {
    return forward<cuMipmappedArrayGetMemoryRequirements>(
        as<CUDA_ARRAY_MEMORY_REQUIREMENTS *>(result), as<CUmipmappedArray>(array), device);
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties *result,
                                                  cudaMipmappedArray_t array) {
    return forward<cuMipmappedArrayGetSparseProperties>(as<CUDA_ARRAY_SPARSE_PROPERTIES *>(result),
                                                        as<CUmipmappedArray>(array));
}
