// layout.h -- where the elements of a batch of transforms are.
//
// As cuFFT defines it, element (x, y, z) of transform b is at
//
//     b * distance + ((x * embed[1] + y) * embed[2] + z) * stride
//
// The last dimension of a real transform's complex side has n / 2 + 1 elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace softcufft {

/// One side of a transform.
struct Layout {
    std::vector<std::int64_t> shape;   ///< the numbers of transforms, then the dimensions
    std::vector<std::int64_t> strides; ///< in elements, positive
    std::size_t batches = 1;           ///< how many sizes at the front are numbers of transforms

    /// The number of elements from the first to the last.
    [[nodiscard]] std::int64_t extent() const;
};

} // namespace softcufft
