// texture_texel.cpp -- conversions of texels.
#include "rt/texture_texel.h"

namespace softcuda::rt {
namespace {

template <class T> T read(const std::byte *place) noexcept {
    T value;
    std::memcpy(&value, place, sizeof value);
    return value;
}

/// With 8 significant bits, as the hardware's table has them.
float srgb_to_linear(float value) noexcept {
    const float exact =
        value <= 0.04045F ? value / 12.92F : std::pow((value + 0.055F) / 1.055F, 2.4F);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &exact, sizeof bits);
    bits = (bits + 0x8000U) & 0xffff0000U;
    float rounded = 0;
    std::memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

/// One channel, widened to 32 bits.
std::uint32_t read_integer(TexelType type, const std::byte *place) noexcept {
    switch (type) {
    case TexelType::U8:
        return read<std::uint8_t>(place);
    case TexelType::S8:
        return static_cast<std::uint32_t>(read<std::int8_t>(place));
    case TexelType::U16:
    case TexelType::F16:
        return read<std::uint16_t>(place);
    case TexelType::S16:
        return static_cast<std::uint32_t>(read<std::int16_t>(place));
    default:
        return read<std::uint32_t>(place);
    }
}

/// One channel as a float: integers become [0, 1] or [-1, 1].
float read_float(TexelType type, const std::byte *place) noexcept {
    switch (type) {
    case TexelType::U8:
        return static_cast<float>(read<std::uint8_t>(place)) / 255.0F;
    case TexelType::S8:
        return std::max(-1.0F, static_cast<float>(read<std::int8_t>(place)) / 127.0F);
    case TexelType::U16:
        return static_cast<float>(read<std::uint16_t>(place)) / 65535.0F;
    case TexelType::S16:
        return std::max(-1.0F, static_cast<float>(read<std::int16_t>(place)) / 32767.0F);
    case TexelType::F16:
        return half_to_float(read<std::uint16_t>(place));
    default:
        return read<float>(place);
    }
}

bool reads_integers(const Texture &texture) noexcept {
    return texture.as_integer || texture.type == TexelType::U32 || texture.type == TexelType::S32;
}

} // namespace

float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = std::uint32_t{half & 0x8000U} << 16;
    const std::uint32_t magnitude = half & 0x7fffU;
    std::uint32_t bits = 0;
    if (magnitude >= 0x7c00U) { // infinity, NaN
        bits = 0x7f800000U | (magnitude & 0x3ffU) << 13;
    } else if (magnitude >= 0x400U) {
        bits = (magnitude << 13) + (112U << 23);
    } else { // subnormal
        const float value = static_cast<float>(magnitude) * 0x1p-24F;
        std::memcpy(&bits, &value, sizeof bits);
    }
    bits |= sign;
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::uint16_t float_to_half(float value) noexcept {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
    bits &= 0x7fffffffU;
    if (bits > 0x7f800000U)
        return 0x7fff;
    if (bits >= 0x47800000U) // beyond the largest half
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    if (bits < 0x38800000U) { // subnormal: adding this aligns the bits and rounds
        float magnitude = 0;
        std::memcpy(&magnitude, &bits, sizeof magnitude);
        magnitude += 0.5F;
        std::memcpy(&bits, &magnitude, sizeof bits);
        return static_cast<std::uint16_t>(sign | (bits - 0x3f000000U));
    }
    const std::uint32_t rounded = bits + 0xfffU + (bits >> 13 & 1U);
    return static_cast<std::uint16_t>(sign | (rounded - (112U << 23)) >> 13);
}

Texel read_texel(const Texture &texture, const std::byte *place) noexcept {
    if (texture.reads)
        texture.reads->add(place);
    Texel texel;
    const unsigned step = bytes_of(texture.type);
    const bool integers = reads_integers(texture);
    for (unsigned channel = 0; channel < texture.channels; channel++, place += step) {
        if (integers) {
            texel.bits[channel] = read_integer(texture.type, place);
            continue;
        }
        const float value = read_float(texture.type, place);
        const bool gamma = texture.srgb && channel < 3 && texture.type == TexelType::U8;
        texel.set(channel, gamma ? srgb_to_linear(value) : value);
    }
    return texel;
}

namespace {

/// The border's colour goes through the texels' own format; halves are rounded down.
float border_float(TexelType type, float value) noexcept {
    const auto steps = [&](float low, float count) {
        return (std::ceil(std::clamp(value, low, 1.0F) * count - 0.5F) + 0.0F) / count;
    };
    switch (type) {
    case TexelType::U8:
        return steps(0, 255);
    case TexelType::S8:
        return steps(-1, 127);
    case TexelType::U16:
        return steps(0, 65535);
    case TexelType::S16:
        return steps(-1, 32767);
    case TexelType::F16:
        return half_to_float(float_to_half(value));
    default:
        return value;
    }
}

} // namespace

Texel border_texel(const Texture &texture) noexcept {
    Texel texel;
    for (unsigned channel = 0; channel < texture.channels; channel++) {
        const float value = texture.border[channel];
        if (!reads_integers(texture)) {
            texel.set(channel, border_float(texture.type, value));
            continue;
        }
        // The bits of the colour, cut to the channel's width.
        std::byte cut[sizeof value];
        std::memcpy(cut, &value, sizeof value);
        texel.bits[channel] = read_integer(texture.type, cut);
    }
    return texel;
}

} // namespace softcuda::rt
