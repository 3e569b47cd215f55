// array.cpp -- checks descriptions of arrays and allocates their memory.
#include "device/array.h"

#include "device/context.h"
#include "device/device.h"
#include "device/error.h"
#include "device/system.h"

#include <algorithm>
#include <bit>

namespace softcuda::device {
namespace {

constexpr unsigned kKnownFlags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                                 CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                                 CUDA_ARRAY3D_COLOR_ATTACHMENT;

struct Limits {
    std::size_t width, height, depth;
};

/// The largest arrays of each type; attributes.cpp reports the same limits.
Limits limits_of(const CUDA_ARRAY3D_DESCRIPTOR &d) {
    const bool layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    if (d.Flags & CUDA_ARRAY3D_CUBEMAP)
        return {32768, 32768, layered ? std::size_t{2046} : 6};
    if (d.Height == 0)
        return layered ? Limits{32768, 0, 2048} : Limits{131072, 0, 0};
    if (layered)
        return {32768, 32768, 2048};
    if (d.Depth != 0)
        return {16384, 16384, 16384};
    return {131072, 65536, 0};
}

void check(const CUDA_ARRAY3D_DESCRIPTOR &d) {
    const bool layered = (d.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    const bool cube = (d.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    require((d.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) == 0,
            CUDA_ERROR_NOT_SUPPORTED);
    require((d.Flags & ~kKnownFlags) == 0, CUDA_ERROR_INVALID_VALUE);
    require(d.NumChannels == 1 || d.NumChannels == 2 || d.NumChannels == 4,
            CUDA_ERROR_INVALID_VALUE);
    require(d.Width > 0, CUDA_ERROR_INVALID_VALUE);
    require(d.Depth == 0 || d.Height > 0 || layered, CUDA_ERROR_INVALID_VALUE);
    require(!layered || d.Depth > 0, CUDA_ERROR_INVALID_VALUE);
    if (cube)
        require(d.Width == d.Height && d.Depth % 6 == 0 && d.Depth > 0 && (layered || d.Depth == 6),
                CUDA_ERROR_INVALID_VALUE);
    const Limits limits = limits_of(d);
    require(d.Width <= limits.width && d.Height <= limits.height && d.Depth <= limits.depth,
            CUDA_ERROR_INVALID_VALUE);
}

CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR description, unsigned level) {
    const auto halved = [&](std::size_t n) {
        return n == 0 ? 0 : std::max<std::size_t>(1, n >> level);
    };
    description.Width = halved(description.Width);
    description.Height = halved(description.Height);
    if ((description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0)
        description.Depth = halved(description.Depth);
    return description;
}

} // namespace

rt::TexelType texel_type(CUarray_format format) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return rt::TexelType::U8;
    case CU_AD_FORMAT_SIGNED_INT8:
        return rt::TexelType::S8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return rt::TexelType::U16;
    case CU_AD_FORMAT_SIGNED_INT16:
        return rt::TexelType::S16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return rt::TexelType::U32;
    case CU_AD_FORMAT_SIGNED_INT32:
        return rt::TexelType::S32;
    case CU_AD_FORMAT_HALF:
        return rt::TexelType::F16;
    case CU_AD_FORMAT_FLOAT:
        return rt::TexelType::F32;
    default: // normalized, block-compressed and video formats
        throw Error(static_cast<int>(format) > 0x20 ? CUDA_ERROR_NOT_SUPPORTED
                                                    : CUDA_ERROR_INVALID_VALUE);
    }
}

Array::Array(Context &context, const CUDA_ARRAY3D_DESCRIPTOR &description, Role role)
    : context_(context), description_(description), role_(role),
      type_(texel_type(description.Format)) {
    check(description);
    const auto extent = [](std::size_t n) {
        return static_cast<std::uint32_t>(std::max<std::size_t>(1, n));
    };
    image_.extent = {extent(description.Width), extent(description.Height),
                     extent(description.Depth)};
    image_.pitch = std::uint64_t{image_.extent[0]} * texel_bytes();
    image_.slice = image_.pitch * image_.extent[1];
    image_.address = System::get().memory().allocate({.size = bytes(),
                                                      .kind = MemoryKind::Array,
                                                      .device = &context.device(),
                                                      .context = &context,
                                                      .flags = 0});
}

Array::~Array() {
    try {
        System::get().memory().free(image_.address, MemoryKind::Array);
    } catch (const Error &) {
        // The context was torn down, and its memory was freed.
    }
}

unsigned Array::dimensions() const noexcept {
    if (description_.Height == 0)
        return 1;
    return description_.Depth == 0 || is_layered() || is_cube() ? 2 : 3;
}

MipmappedArray::MipmappedArray(Context &context, const CUDA_ARRAY3D_DESCRIPTOR &description,
                               unsigned levels) {
    const bool flat = (description.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
    const std::size_t largest =
        std::max({description.Width, description.Height, flat ? 0 : description.Depth});
    require(largest > 0, CUDA_ERROR_INVALID_VALUE); // else there is no level
    const auto most = static_cast<unsigned>(std::bit_width(largest));
    // As in CUDA: a larger number of levels is reduced to the maximum.
    const unsigned count = std::clamp(levels, 1U, std::min(most, rt::Texture::kMostLevels));
    for (unsigned level = 0; level < count; level++)
        levels_.push_back(
            std::make_shared<Array>(context, level_of(description, level), Array::Role::Level));
}

} // namespace softcuda::device
