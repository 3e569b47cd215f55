// written_bytes.h -- which bytes of memory have been written since they were allocated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace softcuda::check {

/// A bit for each byte of one block's window.
class WrittenWindow {
  public:
    void reset(std::uint64_t bytes) { bits_.assign((bytes + 63) / 64, 0); }
    void write(std::uint64_t offset, std::uint64_t bytes);
    /// True for what lies outside.
    [[nodiscard]] bool is_written(std::uint64_t offset, std::uint64_t bytes) const;

  private:
    std::vector<std::uint64_t> bits_;
};

/// The same of device memory. Pages that nobody has written do not exist. Any thread.
class WrittenMemory {
  public:
    /// Nothing of it has been written.
    void clear(std::uint64_t address, std::uint64_t bytes);
    void write(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] bool is_written(std::uint64_t address, std::uint64_t bytes);
    /// What is written in the source is so in the destination.
    void copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);

  private:
    static constexpr std::uint64_t kPageBytes = 4096;
    using Page = std::array<std::uint64_t, kPageBytes / 64>;
    static constexpr std::size_t kShards = 256;
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
    };
    [[nodiscard]] bool any_written(std::uint64_t address, std::uint64_t bytes);
    template <class Each> void for_each_page(std::uint64_t address, std::uint64_t bytes, Each each);

    std::array<Shard, kShards> shards_;
};

} // namespace softcuda::check
