// texture_surface.h -- surfaces: plain reads, writes and reductions of texels.
#pragma once

#include "rt/kernel_abi.h"
#include "rt/texture.h"
#include "support/texture_operation.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softcuda::rt {

/// The address of a surface access; null for an access that does nothing or reads zeros. Sets
/// `failed` for an access that must end the kernel. `coordinates` are those of the instruction; of
/// a layer's number only the low 16 bits count, without a sign (as on an H200).
[[nodiscard]] std::byte *surface_place(const Texture &surface, const TextureOperation &operation,
                                       const std::int32_t *coordinates,
                                       std::optional<Fault> &failed) noexcept;

/// sust.p: data converted to the surface's format.
void store_formatted(const Texture &surface, std::byte *place, const std::uint32_t *channels,
                     unsigned count) noexcept;

/// sured: one atomic operation on `operation.bytes` bytes.
void reduce_surface(std::byte *place, const TextureOperation &operation,
                    std::uint64_t value) noexcept;

/// txq and suq. A level out of range counts as the last level.
[[nodiscard]] std::uint32_t query_texture(const Texture &texture, TextureOperation::Query query,
                                          std::uint32_t level) noexcept;

} // namespace softcuda::rt
