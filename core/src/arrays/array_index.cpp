// array_index.cpp -- computes the layout of a view from basic indices.
#include <pycuda/array_index.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace pycuda {

namespace {

struct Range {
    std::int64_t start = 0, count = 0;
};

/// The indices that a slice selects on an axis.
Range places_of(const Index &slice, std::int64_t extent) noexcept {
    const std::int64_t step = slice.step();
    // The limits of start and stop. One step past each end is allowed, as an exclusive stop.
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    auto on_axis = [&](std::int64_t place) {
        return std::clamp(place < 0 ? place + extent : place, low, high);
    };
    const std::int64_t start = on_axis(slice.start()), stop = on_axis(slice.stop());
    const std::int64_t length = step > 0 ? stop - start : start - stop;
    if (length <= 0)
        return {};
    // Not -step, which overflows for the smallest number.
    const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step)
                                          : std::uint64_t{0} - static_cast<std::uint64_t>(step);
    return {start,
            static_cast<std::int64_t>((static_cast<std::uint64_t>(length) - 1) / stride + 1)};
}

std::int64_t place_on(std::int64_t place, std::int64_t extent, int axis) {
    if (place < -extent || place >= extent)
        throw std::out_of_range("index " + std::to_string(place) + " is out of bounds for axis " +
                                std::to_string(axis) + " with size " + std::to_string(extent));
    return place < 0 ? place + extent : place;
}

/// The number of axes that rest() stands for, or that follow the last index.
int axes_left(const Layout &layout, std::span<const Index> indices) {
    int used = 0, rests = 0;
    for (const Index &index : indices) {
        used += index.kind() == Index::Kind::At || index.kind() == Index::Kind::Slice ? 1 : 0;
        rests += index.kind() == Index::Kind::Rest ? 1 : 0;
    }
    if (rests > 1)
        throw std::out_of_range("an index can only have a single ellipsis ('...')");
    if (used > layout.dimensions())
        throw std::out_of_range("too many indices for array: array is " +
                                std::to_string(layout.dimensions()) + "-dimensional, but " +
                                std::to_string(used) + " were indexed");
    return layout.dimensions() - used;
}

} // namespace

Index Index::slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
                   std::int64_t step) {
    if (step == 0)
        throw std::invalid_argument("slice step cannot be zero");
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    Index made(Kind::Slice);
    made.start_ = start.value_or(step > 0 ? 0 : highest);
    made.stop_ = stop.value_or(step > 0 ? highest : lowest);
    made.step_ = step;
    return made;
}

LayoutPart part(const Layout &layout, std::span<const Index> indices) {
    const int left = axes_left(layout, indices);
    LayoutPart chosen;
    int axis = 0;
    bool empty = false;
    auto keep_axes = [&](int count) {
        for (; count > 0; --count, ++axis) {
            chosen.layout.append(layout.extent(axis), layout.stride(axis));
            empty |= layout.extent(axis) == 0;
        }
    };
    for (const Index &index : indices) {
        switch (index.kind()) {
        case Index::Kind::NewAxis:
            chosen.layout.append(1, 0);
            break;
        case Index::Kind::Rest:
            keep_axes(left);
            break;
        case Index::Kind::At:
            chosen.offset +=
                place_on(index.start(), layout.extent(axis), axis) * layout.stride(axis);
            ++axis;
            break;
        case Index::Kind::Slice: {
            const Range places = places_of(index, layout.extent(axis));
            // A very large step wraps, as in NumPy. Then the slice has at most one element.
            const std::uint64_t stride = static_cast<std::uint64_t>(layout.stride(axis)) *
                                         static_cast<std::uint64_t>(index.step());
            chosen.layout.append(places.count, static_cast<std::int64_t>(stride));
            chosen.offset += places.start * layout.stride(axis);
            empty |= places.count == 0;
            ++axis;
            break;
        }
        }
    }
    keep_axes(layout.dimensions() - axis);
    if (empty)
        chosen.offset = 0;
    return chosen;
}

} // namespace pycuda
