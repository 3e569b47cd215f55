// range_advice.cpp -- hints for pages.
#include "device/range_advice.h"

#include <algorithm>
#include <iterator>

namespace softcuda::device {
namespace {

void keep_common(CUmemLocation &location, const CUmemLocation &other) {
    if (location.type != other.type || location.id != other.id)
        location = {};
}

} // namespace

RangeAdvice::Places::iterator RangeAdvice::cut(std::uint64_t address) {
    const Places::iterator before = std::prev(places_.upper_bound(address));
    return before->first == address ? before : places_.emplace(address, before->second).first;
}

RangeAdvice::Hints RangeAdvice::common(std::uint64_t begin, std::uint64_t end) const {
    std::lock_guard lock(mutex_);
    auto place = std::prev(places_.upper_bound(begin));
    Hints result = place->second;
    for (++place; place != places_.end() && place->first < end; ++place) {
        const Hints &hints = place->second;
        result.read_mostly = result.read_mostly && hints.read_mostly;
        keep_common(result.preferred, hints.preferred);
        keep_common(result.prefetched, hints.prefetched);
        std::erase_if(result.accessed_by,
                      [&](int one) { return hints.accessed_by.count(one) == 0; });
    }
    return result;
}

} // namespace softcuda::device
