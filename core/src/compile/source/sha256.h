// sha256.h -- the hash for the keys and the checksums of the compile cache.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// FIPS 180-4's SHA-256, fed in pieces.
class Sha256 {
  public:
    using Digest = std::array<unsigned char, 32>;

    void update(std::string_view bytes);
    /// Ends the message and returns the hash. The object cannot be used afterwards.
    [[nodiscard]] Digest finish();

  private:
    void compress(const unsigned char *block);

    std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<unsigned char, 64> pending_{};
    std::size_t pending_size_ = 0;
    std::uint64_t total_size_ = 0;
};

[[nodiscard]] Sha256::Digest sha256(std::string_view bytes);
[[nodiscard]] std::string to_hex(const Sha256::Digest &digest);

} // namespace pycuda::compile_detail
