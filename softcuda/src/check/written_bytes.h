// written_bytes.h -- which bytes of memory have been written since they were allocated.
//
// Each byte has one that says so: 255, or 0. Those of a run of memory lie together, so that kernels
// store and load them as they do the memory itself (rt::WatchPiece).
#pragma once

#include "rt/reserved_range.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::check {

/// Of a block's window, of shared or of local memory.
class WrittenWindow {
  public:
    /// Nothing of its `bytes` bytes has been written. Throws std::bad_alloc.
    void reset(std::uint64_t bytes);
    /// Bytes that lie outside are left out.
    void write(std::uint64_t offset, std::uint64_t bytes);
    /// True for what lies outside.
    [[nodiscard]] bool is_written(std::uint64_t offset, std::uint64_t bytes) const;
    /// The distance from the window at `begin` to the bytes that say.
    [[nodiscard]] std::uint64_t distance_from(const std::byte *begin) const {
        return reinterpret_cast<std::uint64_t>(bytes_) - reinterpret_cast<std::uint64_t>(begin);
    }

  private:
    std::uint8_t *bytes_ = nullptr;
    std::uint64_t size_ = 0;
    std::vector<std::uint8_t> few_;            ///< of a small window,
    std::unique_ptr<rt::ReservedRange> range_; ///< or of one of which few pages will be used
};

/// Of device memory, all of which lies in one range of addresses. Other memory is the host's, and
/// counts as written. Any thread.
class WrittenMemory {
  public:
    /// Says where device memory is; from the second time on it does nothing. Throws std::bad_alloc
    /// where there are not as many addresses again.
    void cover(std::uint64_t begin, std::uint64_t bytes);

    /// Nothing of it has been written.
    void clear(std::uint64_t address, std::uint64_t bytes);
    void write(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] bool is_written(std::uint64_t address, std::uint64_t bytes) const;
    /// What is written in the source is so in the destination.
    void copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
    /// The distance from device memory to the bytes that say.
    [[nodiscard]] std::uint64_t distance() const { return address_of_bytes(0); }

  private:
    [[nodiscard]] bool covers(std::uint64_t address, std::uint64_t bytes) const;
    [[nodiscard]] std::uint64_t address_of_bytes(std::uint64_t address) const;
    [[nodiscard]] std::uint8_t *bytes_of(std::uint64_t address) const {
        return reinterpret_cast<std::uint8_t *>(address_of_bytes(address));
    }

    std::mutex mutex_; ///< of cover()
    std::uint64_t begin_ = 0;
    std::atomic<rt::ReservedRange *> range_{nullptr}; ///< for ever
};

} // namespace softcuda::check
