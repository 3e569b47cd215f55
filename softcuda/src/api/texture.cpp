// texture.cpp -- texture and surface objects.
#include "device/texture.h"
#include "api/call.h"

using namespace softcuda;
using device::Context;

CUresult cuTexObjectCreate(CUtexObject *result, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result, resource, texture);
        *result = device::make_texture_object(context, *resource, *texture, view);
    });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        if (handle != 0) // like cuMemFree(0)
            device::destroy_texture_object(handle, /*is_surface=*/false);
    });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *result, CUtexObject handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = device::texture_object(handle, /*is_surface=*/false).resource;
    });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *result, CUtexObject handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = device::texture_object(handle, /*is_surface=*/false).texture;
    });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *result, CUtexObject handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const auto view = device::texture_object(handle, /*is_surface=*/false).view;
        device::require(view.has_value(), CUDA_ERROR_INVALID_VALUE);
        *result = *view;
    });
}

CUresult cuSurfObjectCreate(CUsurfObject *result, const CUDA_RESOURCE_DESC *resource) {
    return api::with_context<api::InCapture::Refused>([&](Context &context) {
        api::require_non_null(result, resource);
        *result = device::make_surface_object(context, *resource);
    });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
    return api::with_context<api::InCapture::Refused>([&](Context &) {
        if (handle != 0) // like cuMemFree(0)
            device::destroy_texture_object(handle, /*is_surface=*/true);
    });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *result, CUsurfObject handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = device::texture_object(handle, /*is_surface=*/true).resource;
    });
}
