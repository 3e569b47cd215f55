// lz4.h -- decompresses LZ4 blocks.
#pragma once

#include <cstddef>
#include <span>

namespace softcuda::image {

/// Decompresses one block without a frame to `to`. False unless the block has exactly this size.
/// `from` may contain any bytes.
[[nodiscard]] bool unpack_lz4(std::span<const std::byte> from, std::span<std::byte> to) noexcept;

} // namespace softcuda::image
