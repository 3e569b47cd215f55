// range_advice.h -- what a client has said of where managed memory should be.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <map>
#include <mutex>
#include <set>

namespace softcuda::device {

/// Hints about the pages of one allocation. All memory here is the same memory, so they change
/// nothing; they are kept for those who ask. Any thread may call any function.
class RangeAdvice {
  public:
    struct Hints {
        bool read_mostly = false;
        CUmemLocation preferred{};  ///< of type CU_MEM_LOCATION_TYPE_INVALID: none
        CUmemLocation prefetched{}; ///< the last one; likewise
        std::set<int> accessed_by;  ///< ordinals, and CU_DEVICE_CPU
    };

    /// change(hints) for all pages that the range [begin, end) touches.
    template <class Change> void change(std::uint64_t begin, std::uint64_t end, Change change) {
        std::lock_guard lock(mutex_);
        const Places::iterator last = cut(page_of(end + kPage - 1));
        for (Places::iterator place = cut(page_of(begin)); place != last; ++place)
            change(place->second);
    }

    /// What holds for all pages of a range that is not empty.
    [[nodiscard]] Hints common(std::uint64_t begin, std::uint64_t end) const;

  private:
    using Places = std::map<std::uint64_t, Hints>; ///< from an address up to the next one

    static constexpr std::uint64_t kPage = 4096;
    static std::uint64_t page_of(std::uint64_t address) noexcept { return address & ~(kPage - 1); }

    /// The place that begins at `address`, which is made if there is none.
    Places::iterator cut(std::uint64_t address);

    mutable std::mutex mutex_;
    Places places_{{0, {}}};
};

} // namespace softcuda::device
