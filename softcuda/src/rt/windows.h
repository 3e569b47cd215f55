// windows.h -- the addresses of a block's shared and local memory.
//
// Generated code adds signed and unsigned 32-bit offsets to a window's begin without a check. So
// there must be no other memory in the 2 GB before the begin and the 4 GB after it:
//
//     | 2 GB |begin: open|          4 GB          |
//
// If the process has too few addresses for two such ranges for each block (`ulimit -v`, or
// thousands of blocks that wait for each other), blocks share one range. A wrong offset may then
// access another block's memory, but no other memory:
//
//     | 2 GB |local of 0|of 1|of 2 ...  |shared of 0|of 1|of 2 ...  4 GB  |
//            <-------- 4 GB, so that isspacep can tell ---->
//
// If there are too few addresses for this, too, windows are *narrow*: code is compiled to limit
// offsets to 1 MB, which is more than a block or a thread can have. A window then needs little more
// than 1 MB.
#pragma once

#include "rt/known_ranges.h"
#include "rt/reserved_range.h"

#include <cstdint>
#include <memory>

namespace softcuda::rt {

/// Whether windows are narrow in this process. The first call decides by the number of available
/// addresses.
[[nodiscard]] bool windows_are_narrow() noexcept;
/// A window's memory ends at a multiple of this many bytes: no page is smaller. Nothing else uses
/// the memory between the last variable and this end.
inline constexpr std::uint64_t kWindowUnit = 4096;
/// The end of the memory of a window with `bytes` of variables.
constexpr std::uint64_t window_end(std::uint64_t bytes) noexcept {
    return (bytes + kWindowUnit - 1) & ~(kWindowUnit - 1);
}
/// The limit of offsets in code for narrow windows, in bytes.
inline constexpr std::uint64_t kNarrowWindow = std::uint64_t{1} << 20;
/// The most local memory of all threads of a block with narrow windows, in bytes.
inline constexpr std::uint64_t kNarrowLocal = std::uint64_t{64} << 20;
/// The largest distance of the lanes of one access from such an offset, in bytes.
inline constexpr std::uint64_t kNarrowReach = std::uint64_t{1} << 20;

/// A separate address range for one window.
class OwnWindow {
  public:
    /// If windows are narrow, the range has at most `most` bytes.
    explicit OwnWindow(std::uint64_t most) : narrow_(most) {}

    /// Makes the first `bytes` accessible. False if the system call fails.
    [[nodiscard]] bool provide(std::uint64_t bytes) noexcept;
    [[nodiscard]] std::byte *begin() const noexcept;

  private:
    std::unique_ptr<ReservedRange> range_;
    std::uint64_t narrow_;
    std::uint64_t open_ = 0;
};

/// The windows of one block. Used by one thread at a time.
class Windows {
  public:
    Windows() = default;
    Windows(const Windows &) = delete;
    Windows &operator=(const Windows &) = delete;
    ~Windows();

    /// Makes these numbers of bytes accessible. The earlier content may be lost. False if there is
    /// too little memory or too few addresses.
    [[nodiscard]] bool provide(std::uint64_t shared_bytes, std::uint64_t local_bytes) noexcept;

    [[nodiscard]] std::byte *shared() const noexcept;
    [[nodiscard]] std::byte *local() const noexcept;

    /// The addresses in which an access through a window that starts at `begin` can only access
    /// memory of blocks. Empty if `begin` is null.
    [[nodiscard]] static KnownRange shared_range(const std::byte *begin) noexcept;
    [[nodiscard]] static KnownRange local_range(const std::byte *begin) noexcept;

  private:
    [[nodiscard]] bool may_have_own_ranges() noexcept;

    bool has_own_ranges_ = false; ///< and is included in the count of such windows
    OwnWindow shared_{kNarrowWindow}, local_{kNarrowLocal};
    std::uint64_t slot_ = 0, slot_bytes_ = 0; ///< in the shared range; 0 bytes: not in this range
};

} // namespace softcuda::rt
