// object_cache.h -- compiled kernels on disk, shared by all processes of a user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace softcuda::jit {

/// Stores byte strings by keys. An error (a full or read-only disk, a damaged or foreign file,
/// another process that trims) is only a miss, never an error for the caller. Any number of threads
/// and processes may use one folder at the same time.
class ObjectCache {
  public:
    static constexpr std::uint64_t default_capacity = std::uint64_t{1} << 30;

    /// A cache that is always empty, and stores nothing.
    ObjectCache() = default;
    /// Keeps at most about `capacity` bytes of files in `directory`, which is created at the first
    /// use.
    explicit ObjectCache(std::filesystem::path directory,
                         std::uint64_t capacity = default_capacity);
    /// Uses SOFTCUDA_CACHE_DIR, else $XDG_CACHE_HOME/softcuda, else ~/.cache/softcuda. Always empty
    /// if SOFTCUDA_DISABLE_CACHE=1 or if there is no home folder.
    static ObjectCache from_environment();

    [[nodiscard]] std::optional<std::vector<char>> load(std::string_view key) const;
    void store(std::string_view key, std::span<const char> bytes) const;

    /// Removes the least recently used entries until the rest fits in three quarters of the
    /// capacity. store() calls it from time to time.
    void trim() const;

    [[nodiscard]] bool is_empty() const { return directory_.empty(); }
    [[nodiscard]] const std::filesystem::path &directory() const { return directory_; }

  private:
    [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;

    std::filesystem::path directory_;
    std::uint64_t capacity_ = 0;
};

} // namespace softcuda::jit
