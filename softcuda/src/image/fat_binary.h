// fat_binary.h -- nvcc's container for one program compiled for several architectures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace softcuda::image {

/// What is wrong with a container, in words.
class FormatError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One of the programs in a container.
struct FatEntry {
    enum class Kind { Ptx, Cubin, Other };
    enum class Packing { None, Lz4, Zstd };

    Kind kind = Kind::Other;
    Packing packing = Packing::None;
    unsigned architecture = 0;          ///< 86 for sm_86 and compute_86
    std::span<const std::byte> payload; ///< as it lies in the container
    std::uint64_t size = 0;             ///< unpacked; bytes
};

/// What an image is, by its first bytes.
enum class ImageForm { Ptx, Cubin, FatBinary, Wrapper };
[[nodiscard]] ImageForm form_of(std::span<const std::byte> image) noexcept;

/// Bytes that a fat binary says it has, its header included. Reads the header alone, 16 bytes.
[[nodiscard]] std::uint64_t size_of_fat_binary(std::span<const std::byte> header);

/// Reads a fat binary's directory. Throws FormatError. The entries point into `bytes`.
[[nodiscard]] std::vector<FatEntry> read_fat_binary(std::span<const std::byte> bytes);

/// An entry's content, unpacked; of PTX, without padding. Throws FormatError.
[[nodiscard]] std::string content_of(const FatEntry &entry);

/// The fat binaries that a wrapper in this process's memory (__fatDeviceText, as nvcc compiles it
/// into programs) points to.
[[nodiscard]] std::vector<const void *> fat_binaries_of(const void *wrapper);

} // namespace softcuda::image
