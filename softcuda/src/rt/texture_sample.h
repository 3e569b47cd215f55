// texture_sample.h -- reading a texture at a point.
#pragma once

#include "rt/texture_texel.h"
#include "support/texture_operation.h"

namespace softcuda::rt {

/// The coordinates and the level of detail of one lane's read.
struct SamplePoint {
    float coordinate[3]{};
    std::int64_t index[3]{}; ///< instead of coordinates, for reads with integer coordinates
    bool is_index = false;
    std::uint32_t layer = 0;
    float level = 0;
    std::int32_t offset[3]{};
};

/// The filtered or nearest texel (tex).
[[nodiscard]] Texel sample(const Texture &texture, const TextureOperation &operation,
                           const SamplePoint &point) noexcept;

/// One component of the four texels that bilinear filtering would read (tld4).
[[nodiscard]] Texel gather(const Texture &texture, const TextureOperation &operation,
                           const SamplePoint &point) noexcept;

/// The level of detail of two gradients of the coordinates.
[[nodiscard]] float level_of_gradients(const Texture &texture, const float *dx, const float *dy,
                                       unsigned axes) noexcept;

} // namespace softcuda::rt
