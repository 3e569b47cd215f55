// dependency.h -- a file that a compiled image depends on, and whether it has changed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compile/source/sha256.h"

namespace pycuda::compile_detail {

/// A file's size and modification time: cheap to read, and different after most edits.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;

    bool operator==(const FileStamp &) const = default;
};

/// Empty if the regular file does not exist.
[[nodiscard]] std::optional<FileStamp> stamp_file(const std::string &path);

/// What names of the same file or folder have in common: "a/../b.h" and "b.h", a link and its
/// target.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    auto operator<=>(const FileIdentity &) const = default;
};

/// Empty if there is no file or folder of this name.
[[nodiscard]] std::optional<FileIdentity> identify(const std::string &path);

/// The content and stamp of a file; empty if the file cannot be read.
struct FileContent {
    std::string text;
    FileStamp stamp;
};
[[nodiscard]] std::optional<FileContent> read_file(const std::string &path);

/// A header that was read, or (`absent`) a path at which a header was searched but not found: if a
/// file appears there, the image is outdated, too.
struct Dependency {
    std::string path;
    bool absent = false;
    FileStamp stamp;
    Sha256::Digest digest{};
};

struct DependencyList {
    std::vector<Dependency> files;
    /// The time at which the files were read, in nanoseconds since 1970.
    std::int64_t recorded_ns = 0;

    /// Whether no file has changed. Compares the stamps first. Hashes a file if its stamp differs,
    /// or if the file was modified so shortly before it was read that the stamp is not reliable.
    [[nodiscard]] bool is_current() const;

    /// Whether no stamp has changed since the files were read.
    [[nodiscard]] bool stamps_match() const;
};

[[nodiscard]] std::int64_t now_ns();

} // namespace pycuda::compile_detail
