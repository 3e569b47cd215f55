// arena.h -- runs of pages inside one large reserved range of addresses.
#pragma once

#include "rt/reserved_range.h"

#include <cstdint>
#include <map>
#include <memory>

namespace softcuda::device {

/// Allocates runs of pages. There is at least one inaccessible page on both sides of each run. A
/// freed run stays inaccessible as long as addresses allow, because the search for the next run
/// starts after the last one. Not synchronised.
class Arena {
  public:
    /// Reserves `wanted` bytes, or as much as the process may have, rounded down to a power of two,
    /// because generated code relies on it (codegen/emit_address.cpp). Throws std::bad_alloc.
    explicit Arena(std::uint64_t wanted);

    [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return range_->size(); }
    [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
        return address - base_ < size();
    }

    /// A run of at least `bytes` bytes, readable, writable and zero, or null if there is none.
    [[nodiscard]] std::byte *take(std::uint64_t bytes);

    /// A run of inaccessible pages at a multiple of `align`, or null.
    [[nodiscard]] std::byte *reserve(std::uint64_t bytes, std::uint64_t align);

    /// Pages within a run: maps them to a file, sets their protection, and removes their memory.
    /// False if the system refuses.
    [[nodiscard]] bool back(std::byte *first, std::uint64_t bytes, int file,
                            std::uint64_t offset) noexcept {
        return range_->back(first, run_bytes(bytes), file, offset);
    }
    [[nodiscard]] bool protect(std::byte *first, std::uint64_t bytes,
                               rt::ReservedRange::Access access) noexcept {
        return range_->protect(first, run_bytes(bytes), access);
    }
    bool withdraw(std::byte *first, std::uint64_t bytes) noexcept {
        return range_->close(first, run_bytes(bytes));
    }

    /// Frees a run; its pages become inaccessible. `bytes` is the requested size.
    void give_back(std::byte *run, std::uint64_t bytes);

    /// The number of bytes of the pages of a run of `bytes`.
    [[nodiscard]] static std::uint64_t run_bytes(std::uint64_t bytes) noexcept;

  private:
    using FreeRanges = std::map<std::uint64_t, std::uint64_t>; // begin -> end

    struct Place {
        FreeRanges::iterator range; ///< end() if there is none
        std::uint64_t address = 0;
    };
    Place find(std::uint64_t bytes, std::uint64_t align, std::uint64_t from);
    void carve(const Place &place, std::uint64_t bytes);
    void release(std::uint64_t begin, std::uint64_t end);

    std::unique_ptr<rt::ReservedRange> range_;
    std::uint64_t base_ = 0;
    std::uint64_t cursor_ = 0; ///< where the search for the next run starts
    FreeRanges free_;
};

} // namespace softcuda::device
