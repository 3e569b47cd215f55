// texture.cpp -- converts CUDA's descriptions to the structs that kernels read.
#include "device/texture.h"

#include "device/context.h"
#include "device/error.h"
#include "device/registry.h"
#include "device/system.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace softcuda::device {
namespace {

/// All objects by their handles.
struct Objects {
    std::mutex mutex;
    std::map<std::uint64_t, TextureObject> by_handle;
};

Objects &objects() {
    static auto *const all = new Objects;
    return *all;
}

constexpr unsigned kTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                   CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                   CU_TRSF_SEAMLESS_CUBEMAP;
constexpr std::uint64_t kTextureAlignment = 256; // CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT
constexpr std::uint64_t kPitchAlignment = 32;
constexpr std::uint64_t kMostLinear = std::uint64_t{1} << 28;

std::shared_ptr<Array> find_array(CUarray handle) {
    std::shared_ptr<Array> array = registry<Array>().find(handle);
    require(array != nullptr, CUDA_ERROR_INVALID_HANDLE);
    return array;
}

void use_array(rt::Texture &texture, const Array &array) {
    texture.type = array.type();
    texture.channels = array.description().NumChannels;
    texture.is_layered = array.is_layered();
    texture.dimensions = array.dimensions();
}

void use_mipmap(rt::Texture &texture, CUmipmappedArray handle) {
    const auto mipmap = registry<MipmappedArray>().find(handle);
    require(mipmap != nullptr, CUDA_ERROR_INVALID_HANDLE);
    use_array(texture, *mipmap->levels()[0]);
    texture.level_count = static_cast<unsigned>(mipmap->levels().size());
    for (unsigned level = 0; level < texture.level_count; level++)
        texture.levels[level] = mipmap->levels()[level]->image();
}

void use_linear(rt::Texture &texture, const CUDA_RESOURCE_DESC &resource) {
    const auto &linear = resource.res.linear;
    texture.type = texel_type(linear.format);
    texture.channels = linear.numChannels;
    texture.is_linear_memory = true;
    texture.dimensions = 1;
    require(linear.devPtr % kTextureAlignment == 0 && linear.sizeInBytes >= texture.texel_bytes(),
            CUDA_ERROR_INVALID_VALUE);
    require(System::get().memory().contains(linear.devPtr, linear.sizeInBytes),
            CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t count = linear.sizeInBytes / texture.texel_bytes();
    require(count <= kMostLinear, CUDA_ERROR_INVALID_VALUE);
    texture.levels[0] = {linear.devPtr,
                         linear.sizeInBytes,
                         linear.sizeInBytes,
                         {static_cast<std::uint32_t>(count), 1, 1}};
}

void use_pitch(rt::Texture &texture, const CUDA_RESOURCE_DESC &resource) {
    const auto &plane = resource.res.pitch2D;
    texture.type = texel_type(plane.format);
    texture.channels = plane.numChannels;
    texture.dimensions = 2;
    require(plane.width > 0 && plane.width <= 131072 && plane.height > 0 && plane.height <= 65000,
            CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t row = plane.width * texture.texel_bytes();
    require(plane.devPtr % kTextureAlignment == 0 && plane.pitchInBytes % kPitchAlignment == 0 &&
                plane.pitchInBytes >= row,
            CUDA_ERROR_INVALID_VALUE);
    require(System::get().memory().contains(plane.devPtr,
                                            plane.pitchInBytes * (plane.height - 1) + row),
            CUDA_ERROR_INVALID_VALUE);
    texture.levels[0] = {
        plane.devPtr,
        plane.pitchInBytes,
        plane.pitchInBytes * plane.height,
        {static_cast<std::uint32_t>(plane.width), static_cast<std::uint32_t>(plane.height), 1}};
}

void use_resource(rt::Texture &texture, const CUDA_RESOURCE_DESC &resource) {
    require(resource.flags == 0, CUDA_ERROR_INVALID_VALUE);
    switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
        const std::shared_ptr<Array> array = find_array(resource.res.array.hArray);
        use_array(texture, *array);
        texture.levels[0] = array->image();
        break;
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        use_mipmap(texture, resource.res.mipmap.hMipmappedArray);
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        use_linear(texture, resource);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        use_pitch(texture, resource);
        break;
    default:
        throw Error(CUDA_ERROR_INVALID_VALUE);
    }
    require(texture.channels == 1 || texture.channels == 2 || texture.channels == 4,
            CUDA_ERROR_INVALID_VALUE);
}

rt::AddressMode address_mode(CUaddress_mode mode, bool normalized) {
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP: // these modes require normalized coordinates
        return normalized ? rt::AddressMode::Wrap : rt::AddressMode::Clamp;
    case CU_TR_ADDRESS_MODE_MIRROR:
        return normalized ? rt::AddressMode::Mirror : rt::AddressMode::Clamp;
    case CU_TR_ADDRESS_MODE_CLAMP:
        return rt::AddressMode::Clamp;
    case CU_TR_ADDRESS_MODE_BORDER:
        return rt::AddressMode::Border;
    }
    throw Error(CUDA_ERROR_INVALID_VALUE);
}

bool is_linear(CUfilter_mode mode) {
    require(mode == CU_TR_FILTER_MODE_POINT || mode == CU_TR_FILTER_MODE_LINEAR,
            CUDA_ERROR_INVALID_VALUE);
    return mode == CU_TR_FILTER_MODE_LINEAR;
}

bool is_integer(rt::TexelType type) {
    return type != rt::TexelType::F16 && type != rt::TexelType::F32;
}

void use_description(rt::Texture &texture, const CUDA_TEXTURE_DESC &description) {
    require((description.flags & ~kTextureFlags) == 0, CUDA_ERROR_INVALID_VALUE);
    texture.normalized = (description.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    for (std::size_t axis = 0; axis < 3; axis++)
        texture.address[axis] = address_mode(description.addressMode[axis], texture.normalized);
    texture.linear_filter = is_linear(description.filterMode);
    texture.linear_between_levels = is_linear(description.mipmapFilterMode);
    texture.as_integer =
        texture.type == rt::TexelType::U32 || texture.type == rt::TexelType::S32 ||
        ((description.flags & CU_TRSF_READ_AS_INTEGER) != 0 && is_integer(texture.type));
    // Mipmap levels require normalized coordinates.
    require(texture.level_count == 1 || texture.normalized, CUDA_ERROR_INVALID_VALUE);
    texture.srgb = (description.flags & CU_TRSF_SRGB) != 0;
    texture.seamless_cube = (description.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0;
    texture.level_bias = description.mipmapLevelBias;
    texture.least_level = description.minMipmapLevelClamp;
    texture.most_level = std::max(description.minMipmapLevelClamp, description.maxMipmapLevelClamp);
    std::copy_n(description.borderColor, 4, texture.border.begin());
}

struct ViewFormat {
    rt::TexelType type;
    unsigned channels;
};

ViewFormat view_format(CUresourceViewFormat format) {
    using T = rt::TexelType;
    constexpr T kTypes[] = {T::U8, T::S8, T::U16, T::S16, T::U32, T::S32, T::F16, T::F32};
    constexpr unsigned kChannels[] = {1, 2, 4};
    const int index = static_cast<int>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
    require(index >= 0 && index < 24, CUDA_ERROR_NOT_SUPPORTED); // block compression
    return {kTypes[index / 3], kChannels[index % 3]};
}

/// Selects a part of the levels and layers, and another texel type of the same size.
void use_view(rt::Texture &texture, const CUDA_RESOURCE_VIEW_DESC &view) {
    if (view.format != CU_RES_VIEW_FORMAT_NONE) {
        const ViewFormat format = view_format(view.format);
        require(bytes_of(format.type) * format.channels == texture.texel_bytes(),
                CUDA_ERROR_INVALID_VALUE);
        texture.type = format.type;
        texture.channels = format.channels;
    }
    require(view.firstMipmapLevel <= view.lastMipmapLevel &&
                view.lastMipmapLevel < texture.level_count,
            CUDA_ERROR_INVALID_VALUE);
    std::copy(texture.levels.begin() + view.firstMipmapLevel,
              texture.levels.begin() + view.lastMipmapLevel + 1, texture.levels.begin());
    texture.level_count = view.lastMipmapLevel - view.firstMipmapLevel + 1;
    if (!texture.is_layered || (view.firstLayer == 0 && view.lastLayer == 0))
        return;
    require(view.firstLayer <= view.lastLayer && view.lastLayer < texture.levels[0].extent[2],
            CUDA_ERROR_INVALID_VALUE);
    for (unsigned level = 0; level < texture.level_count; level++) {
        rt::Image &image = texture.levels[level];
        image.address += view.firstLayer * image.slice;
        image.extent[2] = view.lastLayer - view.firstLayer + 1;
    }
}

std::uint64_t publish(std::unique_ptr<rt::Texture> texture, const TextureObject &object) {
    Objects &all = objects();
    std::lock_guard lock(all.mutex);
    const std::uint64_t handle = rt::add_texture(std::move(texture));
    require(handle != 0, CUDA_ERROR_OUT_OF_MEMORY);
    all.by_handle.emplace(handle, object);
    return handle;
}

} // namespace

std::uint64_t make_texture_object(Context &context, const CUDA_RESOURCE_DESC &resource,
                                  const CUDA_TEXTURE_DESC &description,
                                  const CUDA_RESOURCE_VIEW_DESC *view) {
    auto texture = std::make_unique<rt::Texture>();
    use_resource(*texture, resource);
    if (view)
        use_view(*texture, *view);
    use_description(*texture, description);
    TextureObject object{.context = &context,
                         .is_surface = false,
                         .resource = resource,
                         .texture = description,
                         .view = std::nullopt};
    if (view)
        object.view = *view;
    return publish(std::move(texture), object);
}

std::uint64_t make_surface_object(Context &context, const CUDA_RESOURCE_DESC &resource) {
    require(resource.resType == CU_RESOURCE_TYPE_ARRAY, CUDA_ERROR_INVALID_VALUE);
    // As on a GPU, an array without CUDA_ARRAY3D_SURFACE_LDST is accepted.
    auto surface = std::make_unique<rt::Texture>();
    use_resource(*surface, resource);
    surface->is_surface = true;
    return publish(std::move(surface), {.context = &context,
                                        .is_surface = true,
                                        .resource = resource,
                                        .texture = {},
                                        .view = std::nullopt});
}

TextureObject texture_object(std::uint64_t handle, bool is_surface) {
    Objects &all = objects();
    std::lock_guard lock(all.mutex);
    const auto position = all.by_handle.find(handle);
    require(position != all.by_handle.end() && position->second.is_surface == is_surface,
            CUDA_ERROR_INVALID_VALUE);
    return position->second;
}

void destroy_texture_object(std::uint64_t handle, bool is_surface) {
    texture_object(handle, is_surface).context->wait_for_all();
    Objects &all = objects();
    std::lock_guard lock(all.mutex);
    all.by_handle.erase(handle);
    rt::remove_texture(handle);
}

void destroy_texture_objects(const Context &context) noexcept {
    Objects &all = objects();
    std::lock_guard lock(all.mutex);
    std::erase_if(all.by_handle, [&](const auto &entry) {
        if (entry.second.context != &context)
            return false;
        rt::remove_texture(entry.first);
        return true;
    });
}

TextureReference::TextureReference(Context &context, Kind kind, std::uint64_t variable)
    : context_(context), kind_(kind), variable_(variable) {
    texture_.maxMipmapLevelClamp = static_cast<float>(rt::Texture::kMostLevels);
}

TextureReference::~TextureReference() {
    try {
        if (handle_ != 0)
            destroy_texture_object(handle_, kind_ == Kind::Surface);
    } catch (const Error &) {
        // The context was torn down, and its objects were destroyed.
    }
}

CUDA_RESOURCE_DESC TextureReference::resource() const {
    std::lock_guard lock(mutex_);
    require(bound_, CUDA_ERROR_INVALID_VALUE);
    return resource_;
}

CUDA_TEXTURE_DESC TextureReference::texture() const {
    std::lock_guard lock(mutex_);
    return texture_;
}

TextureReference::Format TextureReference::format() const {
    std::lock_guard lock(mutex_);
    return format_;
}

void TextureReference::set_format(Format format) {
    std::lock_guard lock(mutex_);
    require(format.channels == 1 || format.channels == 2 || format.channels == 4,
            CUDA_ERROR_INVALID_VALUE);
    static_cast<void>(texel_type(format.format)); // throws for an invalid format
    format_ = format;
}

void TextureReference::rebuild(const CUDA_RESOURCE_DESC &resource,
                               const CUDA_TEXTURE_DESC &texture) {
    const auto address = [](const CUDA_RESOURCE_DESC &r) {
        return r.resType == CU_RESOURCE_TYPE_ARRAY || r.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
                   ? reinterpret_cast<std::uint64_t>(r.res.array.hArray)
                   : std::uint64_t{r.res.linear.devPtr};
    };
    if (address(resource) == 0)
        return; // no memory is bound yet
    const std::uint64_t made = kind_ == Kind::Surface
                                   ? make_surface_object(context_, resource)
                                   : make_texture_object(context_, resource, texture, nullptr);
    const std::uint64_t old = std::exchange(handle_, made);
    if (old != 0)
        destroy_texture_object(old, kind_ == Kind::Surface); // waits for launches that use it
    write_variable(made);
    bound_ = true;
}

void TextureReference::write_variable(std::uint64_t handle) const {
    if (variable_ != 0 && System::get().memory().contains(variable_, sizeof handle))
        std::memcpy(reinterpret_cast<void *>(variable_), &handle, sizeof handle);
}

} // namespace softcuda::device
