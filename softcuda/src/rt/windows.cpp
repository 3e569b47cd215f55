// windows.cpp -- ranges for windows, and the range that blocks share if there are too few
// addresses.
#include "rt/windows.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <mutex>
#include <new>
#include <sys/resource.h>
#include <utility>
#include <vector>

namespace softcuda::rt {
namespace {

constexpr std::uint64_t kGigabyte = std::uint64_t{1} << 30;
// A 32-bit offset plus the widest access stays within the reservation.
constexpr std::uint64_t kSlack = 64 * 1024;
constexpr std::uint64_t kBelow = 2 * kGigabyte + kSlack;
constexpr std::uint64_t kAbove = 4 * kGigabyte;
/// A process that may have so many has some left beside the range that blocks share.
constexpr std::uint64_t kLeastForCommonRange = 13 * kGigabyte;

/// The range that blocks share: slots of a power of two of bytes, each at the same place of the
/// part for local and of the part for shared memory. Any thread may call any function.
class CommonRange {
  public:
    static constexpr std::uint64_t kSlots = kGigabyte / 2;
    static constexpr std::uint64_t kBytes = kBelow + kAbove + kSlots + kAbove + kSlack;

    /// Null if the system refuses even this one.
    static CommonRange *get() noexcept {
        static const std::unique_ptr<CommonRange> range = make();
        return range.get();
    }

    /// A slot of `bytes`, a power of two of at least a page. False when all are taken.
    [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t &slot) {
        const std::lock_guard lock(mutex_);
        std::vector<std::uint64_t> &free = free_[std::countr_zero(bytes)];
        if (!free.empty()) {
            slot = free.back();
            free.pop_back();
            return true;
        }
        if (kSlots - used_ < bytes)
            return false;
        slot = std::exchange(used_, used_ + bytes);
        free.reserve(free.capacity() + 1); // so that give_back() cannot fail
        return true;
    }

    void give_back(std::uint64_t slot, std::uint64_t bytes) noexcept {
        const std::lock_guard lock(mutex_);
        range_.close(local(slot), bytes);
        range_.close(shared(slot), bytes);
        std::vector<std::uint64_t> &free = free_[std::countr_zero(bytes)];
        if (free.size() < free.capacity())
            free.push_back(slot);
    }

    [[nodiscard]] bool open(std::byte *first, std::uint64_t bytes) noexcept {
        return bytes == 0 || range_.open(first, round_up(bytes, page_size()));
    }

    [[nodiscard]] std::byte *local(std::uint64_t slot) const noexcept {
        return range_.begin() + kBelow + slot;
    }
    [[nodiscard]] std::byte *shared(std::uint64_t slot) const noexcept {
        return local(slot) + kAbove;
    }

  private:
    CommonRange() : range_(kBytes) {}

    static std::unique_ptr<CommonRange> make() noexcept {
        try {
            return std::unique_ptr<CommonRange>(new CommonRange);
        } catch (const std::bad_alloc &) {
            return nullptr;
        }
    }

    ReservedRange range_;
    std::mutex mutex_;
    std::uint64_t used_ = 0;
    std::array<std::vector<std::uint64_t>, 64> free_; ///< by the logarithm of their size
};

/// How many more addresses the process may have.
std::uint64_t addresses_left() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    unsigned long long pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        std::fclose(file);
    }
    return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, pages * page_size());
}

// Computed, not found by trial: otherwise the first blocks would use addresses that the rest of the
// process needs.
bool addresses_are_few() noexcept {
    static const bool few = addresses_left() < 1024 * kGigabyte;
    return few;
}

/// The number of blocks that may have separate ranges, which use half of the addresses at most:
/// stacks, and everything else of the process, need some.
std::int64_t most_own_ranges() noexcept {
    constexpr std::uint64_t kBytesOfBlock = 2 * (kBelow + kAbove + kSlack), kMost = 2048;
    static const std::uint64_t most = std::min(kMost, addresses_left() / 2 / kBytesOfBlock);
    return static_cast<std::int64_t>(most);
}

/// Of the whole process.
std::atomic<std::int64_t> own_ranges{0};

/// How many bytes lie before and behind a window's begin that nothing else can have, where a narrow
/// one has `narrow` bytes at most.
std::uint64_t space_below() noexcept { return windows_are_narrow() ? kNarrowReach : kBelow; }
std::uint64_t space_above(std::uint64_t narrow) noexcept {
    return windows_are_narrow() ? narrow + kNarrowWindow + kNarrowReach : kAbove;
}

KnownRange range(const std::byte *begin, std::uint64_t narrow) noexcept {
    if (!begin)
        return {};
    return {reinterpret_cast<std::uint64_t>(begin) - space_below(),
            space_below() + space_above(narrow)};
}

} // namespace

bool windows_are_narrow() noexcept {
    static const bool narrow = addresses_left() < kLeastForCommonRange;
    return narrow;
}

bool OwnWindow::provide(std::uint64_t bytes) noexcept {
    if (bytes <= open_ && range_)
        return true;
    if (bytes > (windows_are_narrow() ? narrow_ : kAbove))
        return false;
    try {
        if (!range_)
            range_ = std::make_unique<ReservedRange>(space_below() + space_above(narrow_) + kSlack);
    } catch (const std::bad_alloc &) {
        return false;
    }
    const std::uint64_t wanted = round_up(bytes, page_size());
    if (wanted > 0 && !range_->open(begin(), wanted))
        return false;
    open_ = wanted;
    return true;
}

std::byte *OwnWindow::begin() const noexcept {
    return range_ ? range_->begin() + space_below() : nullptr;
}

Windows::~Windows() {
    if (has_own_ranges_)
        own_ranges--;
    if (slot_bytes_ > 0)
        CommonRange::get()->give_back(slot_, slot_bytes_);
}

bool Windows::may_have_own_ranges() noexcept {
    if (has_own_ranges_ || windows_are_narrow())
        return true;
    if (addresses_are_few() || slot_bytes_ > 0)
        return false;
    if (own_ranges++ >= most_own_ranges()) {
        own_ranges--;
        return false;
    }
    return has_own_ranges_ = true;
}

bool Windows::provide(std::uint64_t shared_bytes, std::uint64_t local_bytes) noexcept {
    if (slot_bytes_ == 0 && may_have_own_ranges() && shared_.provide(shared_bytes) &&
        local_.provide(local_bytes))
        return true;
    if (windows_are_narrow())
        return false;
    const std::uint64_t bytes = std::max({shared_bytes, local_bytes, page_size()});
    CommonRange *common = bytes <= CommonRange::kSlots ? CommonRange::get() : nullptr;
    if (!common)
        return false;
    if (slot_bytes_ < bytes) {
        if (slot_bytes_ > 0)
            common->give_back(slot_, slot_bytes_);
        slot_bytes_ = 0;
        try {
            if (!common->take(std::bit_ceil(bytes), slot_))
                return false;
        } catch (const std::bad_alloc &) {
            return false;
        }
        slot_bytes_ = std::bit_ceil(bytes);
    }
    return common->open(common->shared(slot_), shared_bytes) &&
           common->open(common->local(slot_), local_bytes);
}

std::byte *Windows::shared() const noexcept {
    return slot_bytes_ > 0 ? CommonRange::get()->shared(slot_) : shared_.begin();
}

std::byte *Windows::local() const noexcept {
    return slot_bytes_ > 0 ? CommonRange::get()->local(slot_) : local_.begin();
}

KnownRange Windows::shared_range(const std::byte *begin) noexcept {
    return range(begin, kNarrowWindow);
}

KnownRange Windows::local_range(const std::byte *begin) noexcept {
    return range(begin, kNarrowLocal);
}

} // namespace softcuda::rt
