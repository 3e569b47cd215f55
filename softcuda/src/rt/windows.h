// windows.h -- the addresses of a block's shared and local memory.
//
// Generated code adds signed and unsigned 32-bit offsets to a window's begin without a check, so
// that nothing else may lie for 2 GB before it and 4 GB behind it:
//
//     | 2 GB |begin: open|          4 GB          |
//
// Where the process has too few addresses for two such ranges for each block (`ulimit -v`, or
// thousands of blocks that wait for each other), blocks share one. A wild offset may then hit
// another block's memory, but nothing else:
//
//     | 2 GB |local of 0|of 1|of 2 ...  |shared of 0|of 1|of 2 ...  4 GB  |
//            <-------- 4 GB, so that isspacep can tell ---->
//
// Where there are too few even for that, windows are *narrow*: code is compiled to cut off offsets
// at 1 MB, more than a block or a thread can have, so that a window needs little more than that.
#pragma once

#include "rt/reserved_range.h"

#include <cstdint>
#include <memory>

namespace softcuda::rt {

/// Whether windows are narrow in this process: decided by how many addresses
/// are left when it is first asked.
[[nodiscard]] bool windows_are_narrow() noexcept;
/// Where code for narrow windows cuts off offsets. Bytes.
inline constexpr std::uint64_t kNarrowWindow = std::uint64_t{1} << 20;
/// How much local memory all threads of a block may have together then. Bytes.
inline constexpr std::uint64_t kNarrowLocal = std::uint64_t{64} << 20;
/// How far from such an offset the lanes of one access may go. Bytes.
inline constexpr std::uint64_t kNarrowReach = std::uint64_t{1} << 20;

/// A range of its own for one window.
class OwnWindow {
  public:
    /// When windows are narrow, it gets `most` bytes at most.
    explicit OwnWindow(std::uint64_t most) : narrow_(most) {}

    /// Makes the first `bytes` accessible. False when the system refuses.
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

    /// Makes so many bytes accessible. What was there before may be gone. False when there is no
    /// memory or there are no addresses for it.
    [[nodiscard]] bool provide(std::uint64_t shared_bytes, std::uint64_t local_bytes) noexcept;

    [[nodiscard]] std::byte *shared() const noexcept;
    [[nodiscard]] std::byte *local() const noexcept;

    /// Whether an access to `address` cannot reach anything but memory of blocks, where a shared or
    /// local window of theirs starts at `begin`.
    [[nodiscard]] static bool shared_contains(const std::byte *begin,
                                              std::uint64_t address) noexcept;
    [[nodiscard]] static bool local_contains(const std::byte *begin,
                                             std::uint64_t address) noexcept;

  private:
    [[nodiscard]] bool may_have_own_ranges() noexcept;

    bool has_own_ranges_ = false; ///< and is counted among those that do
    OwnWindow shared_{kNarrowWindow}, local_{kNarrowLocal};
    std::uint64_t slot_ = 0, slot_bytes_ = 0; ///< in the common range; no bytes: not there
};

} // namespace softcuda::rt
