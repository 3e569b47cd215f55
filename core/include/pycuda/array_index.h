// array_index.h -- parts of an array by basic indices, with NumPy's rules.
//
//     Array row = part(x, {3});                                    x[3]
//     Array inner = part(x, {Index::slice(1, -1), Index::slice()});  x[1:-1, :]
//     Array column = part(x, {Index::rest(), 0});                  x[..., 0]
//     Array turned = part(x, {Index::slice({}, {}, -1)});          x[::-1]
#pragma once

#include <pycuda/array.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>

namespace pycuda {

/// The index of one axis.
class Index {
  public:
    enum class Kind { At, Slice, Rest, NewAxis };

    /// Unset; for arrays of indices.
    Index() noexcept {} // NOLINT: on purpose
    /// One element; the axis is removed. Negative indices count from the end.
    Index(std::int64_t place) noexcept : kind_(Kind::At), start_(place) {} // NOLINT: as in Python
    /// From `start` to `stop`, which is excluded. As in Python's slices, negative indices count
    /// from the end, and indices beyond the ends are clipped. Throws std::invalid_argument for a
    /// step of zero.
    static Index slice(std::optional<std::int64_t> start = {},
                       std::optional<std::int64_t> stop = {}, std::int64_t step = 1);
    /// Python's `...`: all axes without another index.
    static Index rest() noexcept { return Index(Kind::Rest); }
    /// A new axis of extent 1.
    static Index new_axis() noexcept { return Index(Kind::NewAxis); }

    /// What the index selects.
    Kind kind() const noexcept { return kind_; }
    /// The index of Kind::At, or the start of Kind::Slice. Negative indices are not yet resolved.
    std::int64_t start() const noexcept { return start_; }
    /// Of Kind::Slice, excluded.
    std::int64_t stop() const noexcept { return stop_; }
    /// Of Kind::Slice; not 0.
    std::int64_t step() const noexcept { return step_; }

  private:
    explicit Index(Kind kind) noexcept : kind_(kind) {}

    Kind kind_;
    std::int64_t start_, stop_, step_;
};

/// A layout of some of an array's elements, and the offset in bytes of its first element from the
/// array's first element.
struct LayoutPart {
    Layout layout;           ///< the shape and the strides of the part
    std::int64_t offset = 0; ///< in bytes
};

/// The part of a layout that the indices select. Axes after the last index are taken whole. Throws
/// std::out_of_range if an index is out of bounds, if there are more indices than axes, or more
/// than one rest().
LayoutPart part(const Layout &layout, std::span<const Index> indices);

/// A view of the part of an array that the indices select. Throws like the function above, and like
/// Array::ptr().
inline Array part(const Array &array, std::span<const Index> indices) {
    const LayoutPart chosen = part(array.layout(), indices);
    return array.view(chosen.layout, chosen.offset);
}
/// As above for indices in braces: part(x, {1, Index::rest()}).
inline Array part(const Array &array, std::initializer_list<Index> indices) {
    return part(array, std::span(indices.begin(), indices.size()));
}

} // namespace pycuda
