// texture_reference.cpp -- texture and surface references, which old programs use instead of
// objects.
#include "api/array.h"
#include "api/handles.h"
#include "device/texture.h"

using namespace softcuda;
using device::Context;
using device::TextureReference;

namespace {

std::shared_ptr<TextureReference> find_reference(const void *handle, TextureReference::Kind kind) {
    const auto reference = device::registry<TextureReference>().find(handle);
    device::require(reference != nullptr && reference->kind() == kind, CUDA_ERROR_INVALID_HANDLE);
    return reference;
}

std::shared_ptr<TextureReference> find_texture(CUtexref handle) {
    return find_reference(handle, TextureReference::Kind::Texture);
}

/// Finds the reference of a module's variable, which is created at the first call.
TextureReference &reference_of(CUmodule handle, const char *name, TextureReference::Kind kind) {
    const std::shared_ptr<device::Module> module = api::find_module(handle);
    const device::Module::Global global = module->global(name);
    const auto wanted = kind == TextureReference::Kind::Texture
                            ? compiler::VariableContent::Texture
                            : compiler::VariableContent::Surface;
    device::require(global.address != 0 && global.content == wanted, CUDA_ERROR_NOT_FOUND);
    return module->reference(global.address, kind);
}

/// Changes a texture reference's description: change(resource, texture).
template <class Change> CUresult update(CUtexref handle, Change &&change) noexcept {
    return api::with_context<api::InCapture::Permitted>(
        [&](Context &) { find_texture(handle)->update(change); });
}

} // namespace

CUresult cuModuleGetTexRef(CUtexref *result, CUmodule module, const char *name) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result, name);
        *result = reinterpret_cast<CUtexref>(
            &reference_of(module, name, TextureReference::Kind::Texture));
    });
}

CUresult cuModuleGetSurfRef(CUsurfref *result, CUmodule module, const char *name) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result, name);
        *result = reinterpret_cast<CUsurfref>(
            &reference_of(module, name, TextureReference::Kind::Surface));
    });
}

CUresult cuTexRefCreate(CUtexref *result) {
    return api::with_context<api::InCapture::Permitted>([&](Context &context) {
        api::require_non_null(result);
        auto reference =
            std::make_shared<TextureReference>(context, TextureReference::Kind::Texture, 0);
        device::registry<TextureReference>().add(reference);
        *result = reinterpret_cast<CUtexref>(reference.get());
    });
}

CUresult cuTexRefDestroy(CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        device::require(find_texture(handle)->variable() == 0, CUDA_ERROR_INVALID_VALUE);
        device::registry<TextureReference>().remove(handle);
    });
}

CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned int flags) {
    return update(handle, [&](CUDA_RESOURCE_DESC &resource, CUDA_TEXTURE_DESC &) {
        device::require(flags == CU_TRSA_OVERRIDE_FORMAT, CUDA_ERROR_INVALID_VALUE);
        api::find_array(array);
        resource = {};
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = array;
    });
}

CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray mipmap, unsigned int flags) {
    return update(handle, [&](CUDA_RESOURCE_DESC &resource, CUDA_TEXTURE_DESC &) {
        device::require(flags == CU_TRSA_OVERRIDE_FORMAT, CUDA_ERROR_INVALID_VALUE);
        resource = {};
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = mipmap;
    });
}

CUresult cuTexRefSetAddress(std::size_t *offset, CUtexref handle, CUdeviceptr address,
                            std::size_t bytes) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        const std::shared_ptr<TextureReference> reference = find_texture(handle);
        const TextureReference::Format format = reference->format();
        // Kernels must add the offset from the aligned address themselves.
        const std::size_t distance = address % 256;
        device::require(offset != nullptr || distance == 0, CUDA_ERROR_INVALID_VALUE);
        reference->update([&](CUDA_RESOURCE_DESC &resource, CUDA_TEXTURE_DESC &) {
            resource = {};
            resource.resType = CU_RESOURCE_TYPE_LINEAR;
            resource.res.linear = {address - distance, format.format, format.channels,
                                   bytes + distance};
        });
        if (offset)
            *offset = distance;
    });
}

CUresult cuTexRefSetAddress2D(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR *description,
                              CUdeviceptr address, std::size_t pitch) {
    return update(handle, [&](CUDA_RESOURCE_DESC &resource, CUDA_TEXTURE_DESC &) {
        api::require_non_null(description);
        resource = {};
        resource.resType = CU_RESOURCE_TYPE_PITCH2D;
        resource.res.pitch2D = {address,
                                description->Format,
                                description->NumChannels,
                                description->Width,
                                description->Height,
                                pitch};
    });
}

CUresult cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        find_texture(handle)->set_format({format, static_cast<unsigned>(channels)});
    });
}

CUresult cuTexRefSetAddressMode(CUtexref handle, int dimension, CUaddress_mode mode) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        device::require(dimension >= 0 && dimension < 3, CUDA_ERROR_INVALID_VALUE);
        texture.addressMode[dimension] = mode;
    });
}

CUresult cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        texture.filterMode = mode;
    });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        texture.mipmapFilterMode = mode;
    });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref handle, float bias) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        texture.mipmapLevelBias = bias;
    });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref handle, float least, float most) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        texture.minMipmapLevelClamp = least;
        texture.maxMipmapLevelClamp = most;
    });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned int most) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        texture.maxAnisotropy = most;
    });
}

CUresult cuTexRefSetBorderColor(CUtexref handle, float *colour) {
    return update(handle, [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) {
        api::require_non_null(colour);
        for (int channel = 0; channel < 4; channel++)
            texture.borderColor[channel] = colour[channel];
    });
}

CUresult cuTexRefSetFlags(CUtexref handle, unsigned int flags) {
    return update(handle,
                  [&](CUDA_RESOURCE_DESC &, CUDA_TEXTURE_DESC &texture) { texture.flags = flags; });
}

CUresult cuTexRefGetAddress(CUdeviceptr *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const CUDA_RESOURCE_DESC resource = find_texture(handle)->resource();
        device::require(resource.resType == CU_RESOURCE_TYPE_LINEAR ||
                            resource.resType == CU_RESOURCE_TYPE_PITCH2D,
                        CUDA_ERROR_INVALID_VALUE);
        *result = resource.res.linear.devPtr; // at the same position as pitch2D's
    });
}

CUresult cuTexRefGetArray(CUarray *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const CUDA_RESOURCE_DESC resource = find_texture(handle)->resource();
        device::require(resource.resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE);
        *result = resource.res.array.hArray;
    });
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        const CUDA_RESOURCE_DESC resource = find_texture(handle)->resource();
        device::require(resource.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                        CUDA_ERROR_INVALID_VALUE);
        *result = resource.res.mipmap.hMipmappedArray;
    });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *result, CUtexref handle, int dimension) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        device::require(dimension >= 0 && dimension < 3, CUDA_ERROR_INVALID_VALUE);
        *result = find_texture(handle)->texture().addressMode[dimension];
    });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = find_texture(handle)->texture().filterMode;
    });
}

CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        const TextureReference::Format found = find_texture(handle)->format();
        if (format)
            *format = found.format;
        if (channels)
            *channels = static_cast<int>(found.channels);
    });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = find_texture(handle)->texture().mipmapFilterMode;
    });
}

CUresult cuTexRefGetMipmapLevelBias(float *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = find_texture(handle)->texture().mipmapLevelBias;
    });
}

CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(least, most);
        const CUDA_TEXTURE_DESC texture = find_texture(handle)->texture();
        *least = texture.minMipmapLevelClamp;
        *most = texture.maxMipmapLevelClamp;
    });
}

CUresult cuTexRefGetMaxAnisotropy(int *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = static_cast<int>(find_texture(handle)->texture().maxAnisotropy);
    });
}

CUresult cuTexRefGetBorderColor(float *colour, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(colour);
        const CUDA_TEXTURE_DESC texture = find_texture(handle)->texture();
        for (int channel = 0; channel < 4; channel++)
            colour[channel] = texture.borderColor[channel];
    });
}

CUresult cuTexRefGetFlags(unsigned int *result, CUtexref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result = find_texture(handle)->texture().flags;
    });
}

// An instruction contains its reference, so this call has no effect on the kernel.
CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned int flags) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        device::require(flags == 0, CUDA_ERROR_INVALID_VALUE);
        find_reference(handle, TextureReference::Kind::Surface)
            ->update([&](CUDA_RESOURCE_DESC &resource, CUDA_TEXTURE_DESC &) {
                resource = {};
                resource.resType = CU_RESOURCE_TYPE_ARRAY;
                resource.res.array.hArray = array;
            });
    });
}

CUresult cuSurfRefGetArray(CUarray *result, CUsurfref handle) {
    return api::with_context<api::InCapture::Permitted>([&](Context &) {
        api::require_non_null(result);
        *result =
            find_reference(handle, TextureReference::Kind::Surface)->resource().res.array.hArray;
    });
}
