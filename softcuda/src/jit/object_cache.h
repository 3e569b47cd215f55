// object_cache.h -- compiled kernels on disk, shared by all processes of a user.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace softcuda::jit {

/// Keeps byte strings under keys. It is only ever a shortcut: whatever goes wrong (a full or
/// read-only disk, a damaged or foreign file, another process trimming) is a miss, never an error.
/// Any number of threads and processes may use one folder at once.
class ObjectCache {
  public:
    static constexpr std::uint64_t default_capacity = std::uint64_t{256} << 20;

    /// A cache that is always empty.
    ObjectCache() = default;
    /// Keeps at most about `capacity` bytes of files in `directory`, which is made when first
    /// needed.
    explicit ObjectCache(std::filesystem::path directory,
                         std::uint64_t capacity = default_capacity);
    /// In SOFTCUDA_CACHE_DIR, else $XDG_CACHE_HOME/softcuda, else ~/.cache/softcuda; always empty
    /// where SOFTCUDA_DISABLE_CACHE=1 or there is no home.
    static ObjectCache from_environment();

    [[nodiscard]] std::optional<std::vector<char>> load(std::string_view key) const;
    void store(std::string_view key, std::span<const char> bytes) const;

    /// Removes the entries used least recently until what is left fits in three quarters of the
    /// capacity; store() calls it now and then.
    void trim() const;

    [[nodiscard]] const std::filesystem::path &directory() const { return directory_; }

  private:
    [[nodiscard]] std::filesystem::path path_of(std::string_view key) const;

    std::filesystem::path directory_;
    std::uint64_t capacity_ = 0;
};

} // namespace softcuda::jit
