// texture_surface.h -- surfaces: plain reads, writes and reductions of texels.
#pragma once

#include "rt/texture.h"
#include "support/texture_operation.h"

#include <cstddef>
#include <cstdint>

namespace softcuda::rt {

/// Where a surface access goes: null for one that does nothing, or reads zeros. `failed` is set for
/// one that must end the kernel. `coordinates` as the instruction has them.
[[nodiscard]] std::byte *surface_place(const Texture &surface, const TextureOperation &operation,
                                       const std::int32_t *coordinates, bool &failed) noexcept;

/// sust.p: data converted to the surface's format.
void store_formatted(const Texture &surface, std::byte *place, const std::uint32_t *channels,
                     unsigned count) noexcept;

/// sured: one atomic operation on `operation.bytes` bytes.
void reduce_surface(std::byte *place, const TextureOperation &operation,
                    std::uint64_t value) noexcept;

/// txq and suq. A level that is none counts as the last.
[[nodiscard]] std::uint32_t query_texture(const Texture &texture, TextureOperation::Query query,
                                          std::uint32_t level) noexcept;

} // namespace softcuda::rt
