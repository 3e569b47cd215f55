// fat_binary.h -- nvcc's container for one program compiled for several architectures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace softcuda::image {

/// A damaged container; what() is the reason.
class FormatError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// One of the programs in a container.
struct FatEntry {
    enum class Kind { Ptx, Cubin, LtoIr, Other };
    enum class Packing { None, Lz4, Zstd };

    Kind kind = Kind::Other;
    Packing packing = Packing::None;
    unsigned architecture = 0;          ///< 86 for sm_86 and compute_86
    std::span<const std::byte> payload; ///< as stored in the container
    std::uint64_t size = 0;             ///< uncompressed size in bytes
};

/// The kind of an image, from its first bytes.
enum class ImageForm { Ptx, Cubin, FatBinary, Wrapper };
[[nodiscard]] ImageForm form_of(std::span<const std::byte> image) noexcept;

/// The size of a fat binary from its header, including the header. Reads only the header, 16 bytes.
[[nodiscard]] std::uint64_t size_of_fat_binary(std::span<const std::byte> header);

/// Reads a fat binary's directory. Throws FormatError. The entries point into `bytes`.
[[nodiscard]] std::vector<FatEntry> read_fat_binary(std::span<const std::byte> bytes);

/// The uncompressed content of an entry; PTX without padding. Throws FormatError.
[[nodiscard]] std::string content_of(const FatEntry &entry);

/// The fat binaries that a wrapper in this process's memory (__fatDeviceText, as nvcc compiles it
/// into programs) points to.
[[nodiscard]] std::vector<const void *> fat_binaries_of(const void *wrapper);

} // namespace softcuda::image
