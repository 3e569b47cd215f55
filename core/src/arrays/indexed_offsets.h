// indexed_offsets.h -- the offset of an index that is out of bounds.
#pragma once

#include "arrays/define.h"

#include <string>

namespace pycuda {

/// A line that defines NO_ELEMENT, for kernels that compute or use offsets of elements. A launch of
/// a graph finds an index out of bounds after later kernels were recorded, and they skip this
/// offset.
inline std::string define_no_element() {
    return define("NO_ELEMENT", "(-0x7fffffffffffffffLL - 1)");
}

} // namespace pycuda
