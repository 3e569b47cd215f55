// dependency.h -- a file that a compiled image depends on, and whether it is still the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sha256.h"

namespace pycuda::compile_detail {

/// A file's size and time of last change: cheap to ask, and different after most edits.
struct FileStamp {
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;

    bool operator==(const FileStamp &) const = default;
};

/// Nothing when there is no such regular file.
[[nodiscard]] std::optional<FileStamp> stamp_file(const std::string &path);

/// The content, and the stamp it had when it was read; nothing when it cannot be read.
struct FileContent {
    std::string text;
    FileStamp stamp;
};
[[nodiscard]] std::optional<FileContent> read_file(const std::string &path);

/// A header that was read, or (`absent`) a place where one was looked for in vain:
/// should a file appear there, the image is stale too.
struct Dependency {
    std::string path;
    bool absent = false;
    FileStamp stamp;
    Sha256::Digest digest{};
};

struct DependencyList {
    std::vector<Dependency> files;
    /// When the files were read, nanoseconds since 1970.
    std::int64_t recorded_ns = 0;

    /// Whether every file is as it was. Compares stamps first; a file whose stamp differs, or
    /// that changed so shortly before it was recorded that its stamp proves nothing, is hashed.
    [[nodiscard]] bool is_current() const;

    /// Whether no stamp has changed since the files were read.
    [[nodiscard]] bool stamps_match() const;
};

[[nodiscard]] std::int64_t now_ns();

} // namespace pycuda::compile_detail
