// array_product.h -- products of matrices, and of stacks of them.
//
//     Array c = matrix_product(a, b, {.stream = s}); // numpy.matmul(a, b)
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>

namespace pycuda {

/// The options of matrix_product().
struct ProductOptions {
    std::optional<ScalarType> dtype = {}; ///< instead of the operands' common type
    GivenStream stream;                   ///< of the launch
};

/// The matrix product: sums over the last axis of `a` and the second-to-last axis of `b`. Both have
/// at least two axes; the axes before the last two are broadcast. 16-bit floats are added up in
/// float32, bools with "or". Throws std::invalid_argument for shapes that do not fit,
/// UnsupportedTypes for structs.
Array matrix_product(const Array &a, const Array &b, const ProductOptions &options);

} // namespace pycuda
