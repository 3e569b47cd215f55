// texture_surface.cpp -- surfaces.
//
// The first coordinate of suld.b, sust.b and sured.b counts bytes, that of the .p forms elements.
#include "rt/texture_surface.h"

#include "rt/texture_texel.h"

#include <type_traits>

namespace softcuda::rt {
namespace {

/// Maps a coordinate by the instruction's mode; false for one outside with .zero.
bool settle(std::int64_t &index, std::int64_t n, TextureOperation::Outside outside,
            std::optional<Fault> &failed) noexcept {
    if (index >= 0 && index < n)
        return true;
    if (outside == TextureOperation::Outside::Clamp) {
        index = std::clamp<std::int64_t>(index, 0, n - 1);
        return true;
    }
    if (outside == TextureOperation::Outside::Trap)
        failed = Fault::IllegalAddress;
    return false;
}

template <class T, class Combine> void replace(std::byte *place, Combine &&combine) noexcept {
    auto *word = reinterpret_cast<T *>(place);
    T seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &seen, combine(seen), true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
}

template <class T>
void reduce_as(std::byte *place, TextureOperation::Operator op, std::uint64_t value) noexcept {
    using Unsigned = std::make_unsigned_t<T>;
    const T operand = static_cast<T>(value);
    replace<T>(place, [&](T seen) {
        switch (op) {
        case TextureOperation::Operator::Min:
            return std::min(seen, operand);
        case TextureOperation::Operator::Max:
            return std::max(seen, operand);
        case TextureOperation::Operator::And:
            return static_cast<T>(seen & operand);
        case TextureOperation::Operator::Or:
            return static_cast<T>(seen | operand);
        case TextureOperation::Operator::Add:
            break;
        }
        return static_cast<T>(static_cast<Unsigned>(seen) + static_cast<Unsigned>(operand));
    });
}

template <class T> void put(std::byte *place, T value) noexcept {
    std::memcpy(place, &value, sizeof value);
}

} // namespace

std::byte *surface_place(const Texture &surface, const TextureOperation &operation,
                         const std::int32_t *coordinates, std::optional<Fault> &failed) noexcept {
    const Image &image = surface.levels[0];
    const unsigned layers = operation.is_layered() ? 1 : 0;
    const unsigned texel = surface.texel_bytes();
    std::int64_t x = coordinates[layers];
    std::int64_t y = operation.axes() > 1 ? coordinates[layers + 1] : 0;
    std::int64_t z = operation.axes() > 2 ? coordinates[layers + 2] : 0;
    if (layers != 0)
        z = static_cast<std::uint16_t>(coordinates[0]);
    const unsigned step = operation.formatted ? texel : 1;
    const unsigned width = operation.formatted ? 1 : operation.bytes * operation.elements;
    const std::int64_t row = std::int64_t{image.extent[0]} * texel;
    if (!operation.formatted && x % width != 0) {
        failed = Fault::MisalignedAddress; // must be a multiple of the access's width
        return nullptr;
    }
    // All bytes of an access must be inside.
    std::int64_t unit = x / width;
    const std::int64_t units = operation.formatted ? image.extent[0] : row / width;
    if (!settle(unit, units, operation.outside, failed) ||
        !settle(y, image.extent[1], operation.outside, failed) ||
        !settle(z, image.extent[2], operation.outside, failed))
        return nullptr;
    return reinterpret_cast<std::byte *>(
        image.address + static_cast<std::uint64_t>(z) * image.slice +
        static_cast<std::uint64_t>(y) * image.pitch +
        static_cast<std::uint64_t>(unit * (operation.formatted ? step : width)));
}

void store_formatted(const Texture &surface, std::byte *place, const std::uint32_t *channels,
                     unsigned count) noexcept {
    for (unsigned n = 0; n < surface.channels; n++, place += bytes_of(surface.type)) {
        const std::uint32_t bits = n < count ? channels[n] : 0;
        float value = 0;
        std::memcpy(&value, &bits, sizeof value);
        switch (surface.type) {
        case TexelType::U8:
            put(place, static_cast<std::uint8_t>(std::min<std::uint32_t>(bits, 255)));
            break;
        case TexelType::S8:
            put(place, static_cast<std::int8_t>(
                           std::clamp<std::int32_t>(static_cast<std::int32_t>(bits), -128, 127)));
            break;
        case TexelType::U16:
            put(place, static_cast<std::uint16_t>(std::min<std::uint32_t>(bits, 65535)));
            break;
        case TexelType::S16:
            put(place, static_cast<std::int16_t>(std::clamp<std::int32_t>(
                           static_cast<std::int32_t>(bits), -32768, 32767)));
            break;
        case TexelType::F16:
            put(place, float_to_half(value));
            break;
        default:
            put(place, bits);
        }
    }
}

void reduce_surface(std::byte *place, const TextureOperation &operation,
                    std::uint64_t value) noexcept {
    if (operation.bytes == 8)
        operation.is_signed ? reduce_as<std::int64_t>(place, operation.reduction, value)
                            : reduce_as<std::uint64_t>(place, operation.reduction, value);
    else
        operation.is_signed ? reduce_as<std::int32_t>(place, operation.reduction, value)
                            : reduce_as<std::uint32_t>(place, operation.reduction, value);
}

std::uint32_t query_texture(const Texture &texture, TextureOperation::Query query,
                            std::uint32_t level) noexcept {
    using Query = TextureOperation::Query;
    const Image &image = texture.levels[std::min(level, texture.level_count - 1)];
    switch (query) {
    case Query::Width:
        return image.extent[0];
    case Query::Height:
        return image.extent[1];
    case Query::Depth:
        return texture.is_layered ? 1 : image.extent[2];
    case Query::ArraySize:
        return texture.is_layered ? image.extent[2] : 1;
    case Query::Levels:
        return texture.level_count;
    case Query::Samples:
        return 1;
    case Query::NormalizedCoordinates:
        return texture.normalized ? 1 : 0;
    case Query::FilterMode:
        return texture.linear_filter ? 1 : 0;
    case Query::AddressMode0:
    case Query::AddressMode1:
    case Query::AddressMode2:
        return static_cast<std::uint32_t>(
            texture.address[static_cast<unsigned>(query) -
                            static_cast<unsigned>(Query::AddressMode0)]);
    case Query::ChannelDataType:
    case Query::ChannelOrder:
    case Query::ForceUnnormalized:
    case Query::MemoryLayout:
        break; // refused when the module is loaded
    }
    return 0;
}

} // namespace softcuda::rt
