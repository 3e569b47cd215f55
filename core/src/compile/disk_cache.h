// disk_cache.h -- images compiled by earlier processes.
//
// One file per image, named after the hash of everything that went into it but its headers:
//
//     <folder>/5f/5f0c...e1.image     magic, SHA-256 of the rest, result, headers with stamps
//
// A hit reads that file, checks its hash, and asks whether the headers are unchanged. A file is
// written under a temporary name and renamed, so that readers see it whole or not at all, and
// writers of the same image do not meet. Nothing here is ever an error: a cache that cannot be
// read has no entry, and one that cannot be written stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "dependency.h"
#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

struct CacheEntry {
    CompileResult result;
    DependencyList dependencies;
};

class DiskCache {
  public:
    /// 1 GiB, or $PYCUDA_CACHE_SIZE bytes.
    [[nodiscard]] static std::uint64_t default_capacity();

    explicit DiskCache(std::filesystem::path folder, std::uint64_t capacity = default_capacity());

    /// The entry, if it is whole and its headers are as they were.
    [[nodiscard]] std::optional<CacheEntry> find(const Sha256::Digest &key) const;
    void store(const Sha256::Digest &key, const CacheEntry &entry) const;

    /// Removes the entries that were used longest ago until four fifths of the capacity remain,
    /// if more than the capacity is in use, and what crashed writers left behind.
    void evict() const;

    [[nodiscard]] std::filesystem::path path_of(const Sha256::Digest &key) const;

  private:
    std::filesystem::path folder_;
    std::uint64_t capacity_;
};

} // namespace pycuda::compile_detail
