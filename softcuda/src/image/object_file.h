// object_file.h -- nvcc's fat binaries in object files and in archives of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace softcuda::image {

/// A file in an archive.
struct ArchiveMember {
    std::string name;
    std::span<const std::byte> content; ///< points into the archive
};

/// True for an archive made by `ar`.
[[nodiscard]] bool is_archive(std::span<const std::byte> file) noexcept;

/// The files in an archive, without its tables. Throws FormatError.
[[nodiscard]] std::vector<ArchiveMember> members_of(std::span<const std::byte> archive);

/// The fat binaries in a 64-bit ELF object; empty if it has no device code. They point into
/// `object`. Throws FormatError.
[[nodiscard]] std::vector<std::span<const std::byte>>
fat_binaries_in(std::span<const std::byte> object);

} // namespace softcuda::image
