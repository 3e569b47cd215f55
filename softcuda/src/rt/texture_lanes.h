// texture_lanes.h -- reads of textures, and accesses to surfaces, by all lanes of a warp at once.
//
// The common forms: one level, without gradients, offsets, cubes, layers and sRGB. Others are read
// lane by lane (texture_sample.h), with the same results.
#pragma once

#include "rt/texture.h"
#include "support/texture_operation.h"

#include <cstdint>

namespace softcuda::rt {

/// The lanes of one instruction: an array of 32 for each operand and result.
struct LaneArrays {
    std::uint32_t mask; ///< the lanes that execute it
    const void *const *operands;
    void *const *results; ///< zeros
};

/// Whether the places of all texels have 32 bits.
[[nodiscard]] inline bool has_short_places(const Image &image) noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
    return image.extent[0] < kMost / 16 && image.pitch < kMost && image.slice < kMost &&
           std::uint64_t{image.extent[0]} * 16 + image.pitch * image.extent[1] +
                   image.slice * image.extent[2] <
               kMost;
}

// False if the instruction has another form, or, of a surface, if a lane is outside of it: then
// nothing was read or written.
[[nodiscard]] bool fetch_lanes(const Texture &texture, const TextureOperation &operation,
                               const LaneArrays &lanes) noexcept;
[[nodiscard]] bool load_lanes(const Texture &surface, const TextureOperation &operation,
                              const LaneArrays &lanes) noexcept;
[[nodiscard]] bool store_lanes(const Texture &surface, const TextureOperation &operation,
                               const LaneArrays &lanes) noexcept;

} // namespace softcuda::rt
