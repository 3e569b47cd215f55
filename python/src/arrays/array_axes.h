// array_axes.h -- axes and shapes as programs pass them: ints, and sequences of ints.
#pragma once

#include "support/bindings.h"

#include <pycuda/layout.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pycuda::python {

/// The value of an int, or of an object with __index__. Throws TypeError, or OverflowError for more
/// than 64 bits.
std::int64_t integer(nb::handle value);

/// "C" and "F" as NumPy names them; "A" and "K" mean C. Throws ValueError for another name.
Order order_named(const std::string &order);

/// Whether an argument is one number, not a sequence: an int, or an object whose __index__ works.
bool is_one_number(nb::handle value);

/// The number of an axis from the front. Throws NumPy's AxisError for an axis out of range.
int axis_number(nb::handle axis, int dimensions);

/// Numbers of axes from the front.
class AxisList {
  public:
    void append(int axis);
    bool has(int axis) const noexcept;
    std::size_t size() const noexcept { return count_; }
    int operator[](std::size_t place) const noexcept { return axes_[place]; }
    std::span<const int> all() const noexcept { return {axes_.data(), count_}; }

  private:
    std::array<int, Layout::max_dimensions> axes_;
    std::size_t count_ = 0;
};

/// Whether an axis may occur more than once in a list of axes.
enum class Repeated { Refused, Allowed };
/// One axis or several; all for None. Throws AxisError, and ValueError for a repeated axis.
AxisList axis_numbers(nb::handle axes, int dimensions, Repeated repeated = Repeated::Refused);

/// The shape for `size` elements: -1 is replaced by the extent that is left. Strides are 0. Throws
/// ValueError if there is no such shape.
Layout complete_shape(nb::handle shape, std::size_t size);

/// The layout with at least `least` axes: (n,) becomes (1, n) or (1, n, 1), and (m, n) becomes
/// (m, n, 1).
Layout with_axes(const Layout &layout, int least);
/// The layout with at least two axes: (n,) becomes (n, 1).
Layout as_columns(const Layout &layout);

} // namespace pycuda::python
