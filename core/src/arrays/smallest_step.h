// smallest_step.h -- how near the elements along some axes are, for the choice of a kernel's form.
#pragma once

#include <pycuda/layout.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace pycuda {

/// The smallest distance in bytes between neighbours along an axis of more than one element; the
/// largest number if there is no such axis. Axes that repeat one element do not count.
inline std::int64_t smallest_step(const Layout &layout) {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (int axis = 0; axis < layout.dimensions(); ++axis)
        if (layout.extent(axis) > 1 && layout.stride(axis) != 0)
            smallest = std::min(smallest, std::abs(layout.stride(axis)));
    return smallest;
}

} // namespace pycuda
