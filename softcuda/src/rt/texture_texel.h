// texture_texel.h -- texels: their addresses, and their conversion to floats.
#pragma once

#include "rt/texture.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace softcuda::rt {

/// The four channels of a texel: floats, or the bits of integers.
struct Texel {
    std::uint32_t bits[4]{};

    [[nodiscard]] float as_float(unsigned channel) const noexcept {
        float value = 0;
        std::memcpy(&value, &bits[channel], sizeof value);
        return value;
    }
    void set(unsigned channel, float value) noexcept {
        std::memcpy(&bits[channel], &value, sizeof value);
    }
};

[[nodiscard]] float half_to_float(std::uint16_t half) noexcept;
[[nodiscard]] std::uint16_t float_to_half(float value) noexcept;

/// Reads all channels of the texel at `place`; missing channels are 0.
[[nodiscard]] Texel read_texel(const Texture &texture, const std::byte *place) noexcept;

/// The value of the border.
[[nodiscard]] Texel border_texel(const Texture &texture) noexcept;

/// Maps an index outside 0..n-1 by the address mode; -1 is the border.
[[nodiscard]] inline std::int64_t wrap_index(std::int64_t index, std::int64_t n,
                                             AddressMode mode) noexcept {
    if (index >= 0 && index < n)
        return index;
    switch (mode) {
    case AddressMode::Wrap:
        index %= n;
        return index < 0 ? index + n : index;
    case AddressMode::Mirror:
        index %= 2 * n;
        if (index < 0)
            index += 2 * n;
        return index < n ? index : 2 * n - 1 - index;
    case AddressMode::Clamp:
        return std::clamp<std::int64_t>(index, 0, n - 1);
    case AddressMode::Border:
        break;
    }
    return -1;
}

} // namespace softcuda::rt
