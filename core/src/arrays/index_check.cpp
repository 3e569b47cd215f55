// index_check.cpp -- keeps the bounds of indices in the memory of their array.
#include "arrays/index_check.h"

#include <pycuda/index_check.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace pycuda {
namespace detail {

bool IndexBounds::include(const Array &part) const noexcept {
    if (part.scalar_type() != type)
        return false;
    const Layout &some = part.layout();
    const auto size = static_cast<std::int64_t>(part.item_size());
    const auto distance = static_cast<std::int64_t>(part.address() - first);
    if (distance == 0 && layout.same_shape(some) &&
        std::ranges::equal(layout.strides(), some.strides()))
        return true;
    // Between elements with gaps are others.
    const bool has_gaps = !layout.is_dense(part.item_size());
    if (has_gaps || distance % size != 0 ||
        std::ranges::any_of(some.strides(), [&](std::int64_t step) { return step % size != 0; }))
        return false;
    const Layout::ByteRange all = layout.byte_range(part.item_size()),
                            used = some.byte_range(part.item_size());
    return distance + used.begin >= all.begin && distance + used.end <= all.end;
}

bool IndexCheck::can_keep(const Array &indices) noexcept {
    return indices.memory() != nullptr &&
           !indices.memory()->is_exposed_.load(std::memory_order_relaxed);
}

std::uint64_t IndexCheck::begin(const Array &indices) {
    static std::atomic<std::uint64_t> last = 0;
    const std::uint64_t number = ++last;
    indices.memory()->bounds_.store(number, std::memory_order_relaxed);
    return number;
}

void IndexCheck::keep(const Array &indices, IndexBounds bounds) {
    ArrayMemory &memory = *indices.memory();
    bounds.first = indices.address();
    bounds.type = indices.scalar_type();
    bounds.layout = indices.layout();
    std::lock_guard lock(memory.uses_mutex_);
    if (memory.known_bounds_ == nullptr)
        memory.known_bounds_ = std::make_unique<IndexBounds>(bounds);
    else if (memory.bounds_.load(std::memory_order_relaxed) == bounds.number)
        *memory.known_bounds_ = bounds;
}

bool IndexCheck::find() const {
    ArrayMemory &memory = *indices_.memory();
    const std::uint64_t number = memory.bounds_.load(std::memory_order_relaxed);
    if (number == 0)
        return false;
    std::lock_guard lock(memory.uses_mutex_);
    const IndexBounds *bounds = memory.known_bounds_.get();
    return bounds != nullptr && bounds->number == number && bounds->low >= -extent_ &&
           bounds->high <= extent_ && bounds->include(indices_);
}

IndexCheck::IndexCheck(const Array &indices, std::int64_t extent, const Work &work)
    : indices_(indices), work_(work), extent_(extent) {
    if (work.is_captured() || !can_keep(indices))
        return;
    known_ = find();
    if (!known_)
        number_ = begin(indices);
}

void IndexCheck::pass() const {
    if (number_ != 0 && work_.was_after_all_uses(*indices_.memory()))
        keep(indices_, {.number = number_, .low = -extent_, .high = extent_});
}

void IndexCheck::note(const Array &indices, std::int64_t low, std::int64_t high) {
    if (can_keep(indices))
        keep(indices, {.number = begin(indices), .low = low, .high = high});
}

} // namespace detail

void note_bounds(const Array &indices, std::int64_t low, std::int64_t high) {
    detail::IndexCheck::note(indices, low, high);
}

} // namespace pycuda
