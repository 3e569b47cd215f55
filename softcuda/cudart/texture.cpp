// texture.cpp -- texture and surface objects.
#include "channel.h"
#include "version.h"

#include <algorithm>
#include <cstring>

namespace softcudart {
namespace {

CUDA_RESOURCE_DESC to_driver(const cudaResourceDesc &resource) {
    CUDA_RESOURCE_DESC made{};
    made.resType = static_cast<CUresourcetype>(resource.resType);
    switch (resource.resType) {
    case cudaResourceTypeArray:
        made.res.array.hArray = as<CUarray>(resource.res.array.array);
        return made;
    case cudaResourceTypeMipmappedArray:
        made.res.mipmap.hMipmappedArray = as<CUmipmappedArray>(resource.res.mipmap.mipmap);
        return made;
    case cudaResourceTypeLinear: {
        const Channel channel = channel_of(resource.res.linear.desc);
        made.res.linear.devPtr = address_of(resource.res.linear.devPtr);
        made.res.linear.format = channel.format;
        made.res.linear.numChannels = channel.count;
        made.res.linear.sizeInBytes = resource.res.linear.sizeInBytes;
        return made;
    }
    case cudaResourceTypePitch2D: {
        const Channel channel = channel_of(resource.res.pitch2D.desc);
        made.res.pitch2D.devPtr = address_of(resource.res.pitch2D.devPtr);
        made.res.pitch2D.format = channel.format;
        made.res.pitch2D.numChannels = channel.count;
        made.res.pitch2D.width = resource.res.pitch2D.width;
        made.res.pitch2D.height = resource.res.pitch2D.height;
        made.res.pitch2D.pitchInBytes = resource.res.pitch2D.pitchInBytes;
        return made;
    }
    }
    throw Failure(cudaErrorInvalidValue);
}

/// Writes the members that CUDA 12's struct lacks only if the caller's struct has them.
void from_driver(cudaResourceDesc &result, const CUDA_RESOURCE_DESC &resource) {
    if (has_newer_fields())
        std::memset(&result, 0, sizeof result);
    result.resType = static_cast<cudaResourceType>(resource.resType);
    const auto &linear = resource.res.linear;
    const auto &pitched = resource.res.pitch2D;
    switch (result.resType) {
    case cudaResourceTypeArray:
        result.res.array.array = as<cudaArray_t>(resource.res.array.hArray);
        return;
    case cudaResourceTypeMipmappedArray:
        result.res.mipmap.mipmap = as<cudaMipmappedArray_t>(resource.res.mipmap.hMipmappedArray);
        return;
    case cudaResourceTypeLinear:
        result.res.linear.devPtr = as<void *>(linear.devPtr);
        result.res.linear.desc = description_of(linear.format, linear.numChannels);
        result.res.linear.sizeInBytes = linear.sizeInBytes;
        return;
    case cudaResourceTypePitch2D:
        result.res.pitch2D.devPtr = as<void *>(pitched.devPtr);
        result.res.pitch2D.desc = description_of(pitched.format, pitched.numChannels);
        result.res.pitch2D.width = pitched.width;
        result.res.pitch2D.height = pitched.height;
        result.res.pitch2D.pitchInBytes = pitched.pitchInBytes;
        return;
    }
}

struct Flag {
    unsigned bit;
    int cudaTextureDesc::*field;
};

constexpr Flag kFlags[] = {
    {CU_TRSF_NORMALIZED_COORDINATES, &cudaTextureDesc::normalizedCoords},
    {CU_TRSF_SRGB, &cudaTextureDesc::sRGB},
    {CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, &cudaTextureDesc::disableTrilinearOptimization},
    {CU_TRSF_SEAMLESS_CUBEMAP, &cudaTextureDesc::seamlessCubemap},
};

CUDA_TEXTURE_DESC to_driver(const cudaTextureDesc &texture) {
    CUDA_TEXTURE_DESC made{};
    for (int i = 0; i < 3; i++)
        made.addressMode[i] = static_cast<CUaddress_mode>(texture.addressMode[i]);
    made.filterMode = static_cast<CUfilter_mode>(texture.filterMode);
    if (texture.readMode == cudaReadModeElementType)
        made.flags |= CU_TRSF_READ_AS_INTEGER;
    for (const Flag &flag : kFlags)
        if (texture.*flag.field)
            made.flags |= flag.bit;
    made.maxAnisotropy = texture.maxAnisotropy;
    made.mipmapFilterMode = static_cast<CUfilter_mode>(texture.mipmapFilterMode);
    made.mipmapLevelBias = texture.mipmapLevelBias;
    made.minMipmapLevelClamp = texture.minMipmapLevelClamp;
    made.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
    std::ranges::copy(texture.borderColor, made.borderColor);
    return made;
}

cudaTextureDesc from_driver(const CUDA_TEXTURE_DESC &texture) {
    cudaTextureDesc made{};
    for (int i = 0; i < 3; i++)
        made.addressMode[i] = static_cast<cudaTextureAddressMode>(texture.addressMode[i]);
    made.filterMode = static_cast<cudaTextureFilterMode>(texture.filterMode);
    made.readMode = texture.flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                            : cudaReadModeNormalizedFloat;
    for (const Flag &flag : kFlags)
        made.*flag.field = (texture.flags & flag.bit) != 0;
    made.maxAnisotropy = texture.maxAnisotropy;
    made.mipmapFilterMode = static_cast<cudaTextureFilterMode>(texture.mipmapFilterMode);
    made.mipmapLevelBias = texture.mipmapLevelBias;
    made.minMipmapLevelClamp = texture.minMipmapLevelClamp;
    made.maxMipmapLevelClamp = texture.maxMipmapLevelClamp;
    std::ranges::copy(texture.borderColor, made.borderColor);
    return made;
}

/// The format of a resource's elements. Throws Failure.
CUarray_format format_of(const CUDA_RESOURCE_DESC &resource) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    CUarray array = resource.res.array.hArray;
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        return resource.res.linear.format;
    case CU_RESOURCE_TYPE_PITCH2D:
        return resource.res.pitch2D.format;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        check(cuMipmappedArrayGetLevel(&array, resource.res.mipmap.hMipmappedArray, 0));
        break;
    case CU_RESOURCE_TYPE_ARRAY:
        break;
    }
    check(cuArray3DGetDescriptor(&description, array));
    return description.Format;
}

/// Integers are read unchanged or as normalised floats; only normalised floats can be filtered.
void check_reading(const CUDA_RESOURCE_DESC &resource, const cudaTextureDesc &texture) {
    const CUarray_format format = format_of(resource);
    const bool wide = format == CU_AD_FORMAT_UNSIGNED_INT32 || format == CU_AD_FORMAT_SIGNED_INT32;
    const bool integer = wide || format == CU_AD_FORMAT_UNSIGNED_INT8 ||
                         format == CU_AD_FORMAT_UNSIGNED_INT16 ||
                         format == CU_AD_FORMAT_SIGNED_INT8 || format == CU_AD_FORMAT_SIGNED_INT16;
    const bool as_is = texture.readMode == cudaReadModeElementType;
    require(as_is || !wide, cudaErrorInvalidNormSetting);
    require(!as_is || !integer || texture.filterMode == cudaFilterModePoint,
            cudaErrorInvalidFilterSetting);
}

/// Member by member, because CUDA 12's struct is shorter than the driver's.
CUDA_RESOURCE_VIEW_DESC to_driver(const cudaResourceViewDesc &view) {
    CUDA_RESOURCE_VIEW_DESC made{};
    made.format = static_cast<CUresourceViewFormat>(view.format);
    made.width = view.width;
    made.height = view.height;
    made.depth = view.depth;
    made.firstMipmapLevel = view.firstMipmapLevel;
    made.lastMipmapLevel = view.lastMipmapLevel;
    made.firstLayer = view.firstLayer;
    made.lastLayer = view.lastLayer;
    return made;
}

} // namespace
} // namespace softcudart

using namespace softcudart;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *texture,
                                    const cudaResourceViewDesc *view) {
    return with_context([&] {
        require_non_null(object, resource, texture);
        const CUDA_RESOURCE_DESC from = to_driver(*resource);
        const CUDA_TEXTURE_DESC how = to_driver(*texture);
        check_reading(from, *texture);
        if (!view)
            return check(cuTexObjectCreate(object, &from, &how, nullptr));
        const CUDA_RESOURCE_VIEW_DESC part = to_driver(*view);
        check(cuTexObjectCreate(object, &from, &how, &part));
    });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    return forward<cuTexObjectDestroy>(object);
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *result, cudaTextureObject_t object) {
    return with_context([&] {
        require_non_null(result);
        CUDA_RESOURCE_DESC resource{};
        check(cuTexObjectGetResourceDesc(&resource, object));
        from_driver(*result, resource);
    });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *result, cudaTextureObject_t object) {
    return with_context([&] {
        require_non_null(result);
        CUDA_TEXTURE_DESC texture{};
        check(cuTexObjectGetTextureDesc(&texture, object));
        *result = from_driver(texture);
    });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *result,
                                                 cudaTextureObject_t object) {
    return with_context([&] {
        require_non_null(result);
        CUDA_RESOURCE_VIEW_DESC view{};
        check(cuTexObjectGetResourceViewDesc(&view, object));
        if (has_newer_fields())
            std::memset(result->reserved, 0, sizeof result->reserved);
        result->format = static_cast<cudaResourceViewFormat>(view.format);
        result->width = view.width;
        result->height = view.height;
        result->depth = view.depth;
        result->firstMipmapLevel = view.firstMipmapLevel;
        result->lastMipmapLevel = view.lastMipmapLevel;
        result->firstLayer = view.firstLayer;
        result->lastLayer = view.lastLayer;
    });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource) {
    return with_context([&] {
        require_non_null(object, resource);
        const CUDA_RESOURCE_DESC from = to_driver(*resource);
        check(cuSurfObjectCreate(object, &from));
    });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    return forward<cuSurfObjectDestroy>(object);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *result, cudaSurfaceObject_t object) {
    return with_context([&] {
        require_non_null(result);
        CUDA_RESOURCE_DESC resource{};
        check(cuSurfObjectGetResourceDesc(&resource, object));
        from_driver(*result, resource);
    });
}
