// range_advice.h -- a client's hints about the location of managed memory.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <map>
#include <mutex>
#include <set>

namespace softcuda::device {

/// Hints for the pages of one allocation. All memory here is the same memory, so hints have no
/// effect; they are stored for queries. Any thread may call any function.
class RangeAdvice {
  public:
    struct Hints {
        bool read_mostly = false;
        CUmemLocation preferred{};  ///< of type CU_MEM_LOCATION_TYPE_INVALID: none
        CUmemLocation prefetched{}; ///< the last location; likewise
        std::set<int> accessed_by;  ///< device ordinals and CU_DEVICE_CPU
    };

    /// change(hints) for all pages that the range [begin, end) touches.
    template <class Change> void change(std::uint64_t begin, std::uint64_t end, Change change) {
        std::lock_guard lock(mutex_);
        const Places::iterator last = cut(page_of(end + kPage - 1));
        for (Places::iterator place = cut(page_of(begin)); place != last; ++place)
            change(place->second);
    }

    /// The hints that are common to all pages of a non-empty range.
    [[nodiscard]] Hints common(std::uint64_t begin, std::uint64_t end) const;

  private:
    using Places = std::map<std::uint64_t, Hints>; ///< from an address to the next key

    static constexpr std::uint64_t kPage = 4096;
    static std::uint64_t page_of(std::uint64_t address) noexcept { return address & ~(kPage - 1); }

    /// The entry that begins at `address`; created if there is none.
    Places::iterator cut(std::uint64_t address);

    mutable std::mutex mutex_;
    Places places_{{0, {}}};
};

} // namespace softcuda::device
