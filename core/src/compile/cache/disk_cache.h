// disk_cache.h -- images compiled by earlier processes.
//
// One file for each image. Its name is the hash of all inputs of the compilation except the
// headers:
//
//     <folder>/5f/5f0c...e1.image     magic, SHA-256 of the rest, result, headers with stamps
//
// A lookup reads the file, checks its hash, and checks whether the headers are unchanged. A file is
// written under a temporary name and renamed, so readers see the complete file or none, and
// concurrent writers do not interfere. Failures are not errors: a cache that cannot be read has no
// entries, and a cache that cannot be written is not changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "compile/source/dependency.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

struct CacheEntry {
    CompileResult result;
    DependencyList dependencies;
};

class DiskCache {
  public:
    /// 1 GiB, or $PYCUDA_CACHE_SIZE: bytes, or a number such as 512M. Throws
    /// std::invalid_argument if the variable is not a number.
    [[nodiscard]] static std::uint64_t default_capacity();

    explicit DiskCache(std::filesystem::path folder, std::uint64_t capacity = default_capacity());

    /// The entry, if it is complete and its headers are unchanged.
    [[nodiscard]] std::optional<CacheEntry> find(const Sha256::Digest &key) const;
    void store(const Sha256::Digest &key, const CacheEntry &entry) const;

    /// If the cache exceeds its capacity, removes the least recently used entries until four fifths
    /// of the capacity are in use. Also removes temporary files of crashed writers.
    void evict() const;

    [[nodiscard]] std::filesystem::path path_of(const Sha256::Digest &key) const;

  private:
    std::filesystem::path folder_;
    std::uint64_t capacity_;
};

} // namespace pycuda::compile_detail
