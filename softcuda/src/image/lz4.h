// lz4.h -- unpacks LZ4 blocks.
#pragma once

#include <cstddef>
#include <span>

namespace softcuda::image {

/// Unpacks one block without a frame into `to`. False for anything but a block of exactly that
/// many bytes, whatever `from` holds.
[[nodiscard]] bool unpack_lz4(std::span<const std::byte> from, std::span<std::byte> to) noexcept;

} // namespace softcuda::image
