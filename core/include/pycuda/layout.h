// layout.h -- the layout of an array in memory: shape and strides.
//
//     shape (2, 3), strides (12, 4):   [0][0] at byte 0, [0][1] at 4, [1][0] at 12
//     transposed:    shape (3, 2), strides (4, 12)
//     every second:  shape (2, 2), strides (12, 8)
//     reversed:      shape (2, 3), strides (12, -4), from byte 8 on
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace pycuda {

/// The order in memory: the last index is fastest (C), the first index is fastest (Fortran), or the
/// existing order (Keep).
enum class Order { C, Fortran, Keep };

/// The extents and the strides in bytes, stored in place: copying a layout allocates nothing.
/// Strides may be zero or negative.
class Layout {
  public:
    /// As in NumPy before version 2.
    static constexpr int max_dimensions = 32;

    /// No dimensions: one element.
    Layout() noexcept {} // NOLINT: the unused extents stay unset on purpose
    /// Throws std::invalid_argument for too many dimensions or a negative extent.
    Layout(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);
    /// A contiguous layout. Throws as above, and if the size in bytes exceeds 2^63.
    static Layout contiguous(std::span<const std::int64_t> shape, std::size_t item_size,
                             Order order = Order::C);

    Layout(const Layout &other) noexcept { *this = other; }
    Layout &operator=(const Layout &other) noexcept {
        constexpr int usual = 4; // copied without a loop, whether they are set or not
        dimensions_ = other.dimensions_;
        std::memcpy(shape_.data(), other.shape_.data(), usual * sizeof shape_[0]);
        std::memcpy(strides_.data(), other.strides_.data(), usual * sizeof strides_[0]);
        if (dimensions_ > usual) [[unlikely]] {
            std::copy_n(other.shape_.data(), dimensions_, shape_.data());
            std::copy_n(other.strides_.data(), dimensions_, strides_.data());
        }
        return *this;
    }

    /// The number of axes.
    int dimensions() const noexcept { return dimensions_; }
    /// The number of elements along each axis.
    std::span<const std::int64_t> shape() const noexcept { return {shape_.data(), count()}; }
    /// The distance of neighbours along each axis, in bytes.
    std::span<const std::int64_t> strides() const noexcept { return {strides_.data(), count()}; }
    /// The number of elements along an axis.
    std::int64_t extent(int axis) const noexcept { return shape_[axis]; }
    /// The stride of an axis, in bytes.
    std::int64_t stride(int axis) const noexcept { return strides_[axis]; }
    std::size_t size() const noexcept; ///< number of elements
    /// Throws std::invalid_argument if the number of elements, or the distance in bytes between two
    /// of them, does not fit 63 bits.
    void require_countable(std::size_t item_size) const;

    /// Adds a last axis. `stride` is in bytes. Throws std::invalid_argument for too many dimensions
    /// or a negative extent.
    void append(std::int64_t extent, std::int64_t stride);
    /// Replaces the extent and the stride, in bytes, of an axis. Checks nothing.
    void set(int axis, std::int64_t extent, std::int64_t stride) noexcept {
        shape_[axis] = extent;
        strides_[axis] = stride;
    }

    /// Whether the elements are in C order without gaps. Axes of extent 1 may have any stride; true
    /// for an array without elements.
    bool is_c_contiguous(std::size_t item_size) const noexcept;
    /// As above for Fortran order.
    bool is_f_contiguous(std::size_t item_size) const noexcept;
    /// Whether the extents are equal, whatever the strides.
    bool same_shape(const Layout &other) const noexcept {
        return std::ranges::equal(shape(), other.shape());
    }

    /// The same shape, with the axes in the same order in memory but without gaps.
    Layout dense(std::size_t item_size) const noexcept;
    /// Whether the elements are contiguous after a permutation of the axes.
    bool is_dense(std::size_t item_size) const noexcept;
    /// The layout with permuted axes; `axes` is a permutation.
    Layout transposed(std::span<const int> axes) const;
    /// Reshapes without moving elements: the result is a view of the same memory. Returns false if
    /// no such view exists; `result` is then unspecified.
    bool try_reshape(std::span<const std::int64_t> shape, Order order, std::size_t item_size,
                     Layout &result) const;
    /// Broadcasts to a shape: new axes and axes of length 1 get stride 0. Throws
    /// std::invalid_argument if the shapes do not match.
    Layout broadcast_to(std::span<const std::int64_t> shape) const;

    /// As above, for an assignment: surplus leading axes of extent 1 are dropped.
    Layout assigned_to(std::span<const std::int64_t> shape) const;

    /// The axes in the order of memory: from the largest stride to the smallest.
    std::array<int, max_dimensions> axes_in_memory_order() const noexcept;

    /// The range of bytes that the elements occupy, relative to the first element: lowest byte, and
    /// one past the highest.
    struct ByteRange {
        std::int64_t begin = 0; ///< of the lowest byte; 0 or negative
        std::int64_t end = 0;   ///< one past the highest byte
    };
    /// The range for elements of this size. {0, 0} if there are no elements.
    ByteRange byte_range(std::size_t item_size) const noexcept;

  private:
    std::size_t count() const noexcept { return static_cast<std::size_t>(dimensions_); }
    int dimensions_ = 0;
    std::array<std::int64_t, max_dimensions> shape_;
    std::array<std::int64_t, max_dimensions> strides_;
};

/// The shape to which both broadcast, without strides. Throws std::invalid_argument, with both
/// shapes, if the shapes do not match.
Layout broadcast_shapes(const Layout &a, const Layout &b);

/// Reduces the number of axes of layouts with the same shape: merges neighbouring axes if their
/// strides match in each layout, and drops axes of length 1. The order of elements does not change.
///
///     shape (4, 5, 6)   strides a (120, 24, 4), b (0, 24, 4)    ->    (4, 30)   a (120, 4), b (0,
///     4)
void coalesce(std::span<Layout> layouts) noexcept;

/// Sorts the axes of layouts of the same shape by the first layout's strides, largest first, and
/// reverses axes along which the first layout has a negative stride; `offsets` (one for each
/// layout) then are the distances in bytes by which the first elements have moved. Only for
/// operations for which the order of elements does not matter.
void sort_axes(std::span<Layout> layouts, std::span<std::int64_t> offsets) noexcept;

/// "(2, 3)", "(5,)", "()".
std::string shape_text(std::span<const std::int64_t> shape);

} // namespace pycuda
