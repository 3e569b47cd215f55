// array.cpp -- arrays and mipmapped arrays.
#include "api/array.h"

using namespace softcuda;
using device::Array;
using device::Context;
using device::MipmappedArray;

namespace {

CUarray handle_of(const std::shared_ptr<Array> &array) {
    return reinterpret_cast<CUarray>(array.get());
}

std::shared_ptr<MipmappedArray> find_mipmap(CUmipmappedArray handle) {
    std::shared_ptr<MipmappedArray> mipmap = device::registry<MipmappedArray>().find(handle);
    device::require(mipmap != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return mipmap;
}

CUresult create(CUarray *result, const CUDA_ARRAY3D_DESCRIPTOR &description) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result);
        auto array = std::make_shared<Array>(context, description);
        device::registry<Array>().add(array);
        *result = handle_of(array);
    });
}

CUDA_ARRAY_MEMORY_REQUIREMENTS requirements(std::uint64_t bytes) {
    CUDA_ARRAY_MEMORY_REQUIREMENTS made{};
    made.size = bytes;
    made.alignment = 256;
    return made;
}

} // namespace

CUresult cuArrayCreate(CUarray *result, const CUDA_ARRAY_DESCRIPTOR *description) {
    if (!description)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR same{};
    same.Width = description->Width;
    same.Height = description->Height;
    same.Format = description->Format;
    same.NumChannels = description->NumChannels;
    return create(result, same);
}

CUresult cuArray3DCreate(CUarray *result, const CUDA_ARRAY3D_DESCRIPTOR *description) {
    return description ? create(result, *description) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *result, CUarray handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const CUDA_ARRAY3D_DESCRIPTOR &description = api::find_array(handle)->description();
        *result = {description.Width, description.Height, description.Format,
                   description.NumChannels};
    });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *result, CUarray handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = api::find_array(handle)->description();
    });
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *result, CUarray handle,
                                      CUdevice) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = requirements(api::find_array(handle)->bytes());
    });
}

CUresult cuArrayDestroy(CUarray handle) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        const std::shared_ptr<Array> array = api::find_array(handle);
        array->context().wait_for_all(); // kernels and copies may use it
        device::registry<Array>().remove(handle);
    });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *result,
                                const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned int levels) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result, description);
        auto mipmap = std::make_shared<MipmappedArray>(context, *description, levels);
        device::registry<MipmappedArray>().add(mipmap);
        *result = reinterpret_cast<CUmipmappedArray>(mipmap.get());
    });
}

CUresult cuMipmappedArrayGetLevel(CUarray *result, CUmipmappedArray handle, unsigned int level) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const std::shared_ptr<MipmappedArray> mipmap = find_mipmap(handle);
        device::require(level < mipmap->levels().size(), CUDA_ERROR_INVALID_VALUE);
        device::registry<Array>().add(mipmap->levels()[level]);
        *result = handle_of(mipmap->levels()[level]);
    });
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *result,
                                               CUmipmappedArray handle, CUdevice) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        std::uint64_t bytes = 0;
        for (const std::shared_ptr<Array> &level : find_mipmap(handle)->levels())
            bytes += level->bytes();
        *result = requirements(bytes);
    });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        const std::shared_ptr<MipmappedArray> mipmap = find_mipmap(handle);
        mipmap->context().wait_for_all();
        for (const std::shared_ptr<Array> &level : mipmap->levels())
            device::registry<Array>().remove(level.get());
        device::registry<MipmappedArray>().remove(handle);
    });
}
