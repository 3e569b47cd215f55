// written_bytes.h -- the bytes of memory that were written since their allocation.
//
// Each byte of memory has a flag byte: 255 if it was written, else 0. The flags of a range are
// contiguous, so that kernels can store and load them like the memory itself (rt::WatchPiece).
#pragma once

#include "rt/reserved_range.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace softcuda::check {

/// The flags of a block's window of shared or local memory.
class WrittenWindow {
  public:
    /// Marks all `bytes` bytes as unwritten. Throws std::bad_alloc.
    void reset(std::uint64_t bytes);
    /// Marks bytes as written. Bytes outside the window are ignored.
    void write(std::uint64_t offset, std::uint64_t bytes);
    /// Whether all bytes were written. True for bytes outside the window.
    [[nodiscard]] bool is_written(std::uint64_t offset, std::uint64_t bytes) const;
    /// The distance from the window at `begin` to the flags.
    [[nodiscard]] std::uint64_t distance_from(const std::byte *begin) const {
        return reinterpret_cast<std::uint64_t>(bytes_) - reinterpret_cast<std::uint64_t>(begin);
    }

  private:
    std::uint8_t *bytes_ = nullptr;
    std::uint64_t size_ = 0;
    std::vector<std::uint8_t> few_; ///< of a small window,
    std::unique_ptr<rt::ReservedRange>
        range_; ///< or for a large window, of which few pages are used
};

/// The flags of device memory, which is one range of addresses. Other memory is host memory, and
/// counts as written. Any thread may call.
class WrittenMemory {
  public:
    /// Sets the range of device memory; later calls do nothing. Throws std::bad_alloc if there are
    /// not enough addresses for the flags.
    void cover(std::uint64_t begin, std::uint64_t bytes);

    /// Marks a range as unwritten.
    void clear(std::uint64_t address, std::uint64_t bytes);
    void write(std::uint64_t address, std::uint64_t bytes);
    [[nodiscard]] bool is_written(std::uint64_t address, std::uint64_t bytes) const;
    /// Copies the flags of the source to the destination.
    void copy(std::uint64_t destination, std::uint64_t source, std::uint64_t bytes);
    /// The distance from device memory to the flags.
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
