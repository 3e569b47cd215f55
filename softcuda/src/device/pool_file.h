// pool_file.h -- the memory of a pool that several processes share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace softcuda::device {

/// A file without a name; each allocation has separate pages of it. Another process needs only its
/// descriptor to map the same pages. Any thread may call any function.
///
///     | header | allocation | free | allocation | allocation |
class PoolFile {
  public:
    /// A new file for memory of a device. Throws Error(out of memory).
    explicit PoolFile(int device);
    /// The file of a descriptor that another process has sent, which is duplicated. Throws
    /// Error(invalid value) if it is not a pool's file.
    static std::shared_ptr<PoolFile> import(int file);
    PoolFile(const PoolFile &) = delete;
    PoolFile &operator=(const PoolFile &) = delete;
    ~PoolFile();

    [[nodiscard]] int file() const noexcept { return file_; }
    [[nodiscard]] int device() const noexcept { return device_; }
    /// Whether this process created the file. Only then pages can be allocated.
    [[nodiscard]] bool is_own() const noexcept { return is_own_; }
    /// Identifies the file in all processes.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Allocates whole zeroed pages: returns their offset in the file. Throws Error(out of memory).
    [[nodiscard]] std::uint64_t take(std::uint64_t bytes);
    void give_back(std::uint64_t offset, std::uint64_t bytes) noexcept;

    /// Whether the file contains these bytes.
    [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  private:
    struct Imported {};
    PoolFile(int file, int device, Imported);
    void identify();

    int file_ = -1;
    int device_ = 0;
    bool is_own_ = false;
    std::uint64_t id_ = 0;
    std::mutex mutex_;
    std::uint64_t size_ = 0;
    std::map<std::uint64_t, std::uint64_t> free_; ///< offset, bytes; no two are adjacent
};

} // namespace softcuda::device
