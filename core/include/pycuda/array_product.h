// array_product.h -- products of matrices, and of stacks of them.
//
//     Array c = matrix_product(a, b);                  // numpy.matmul(a, b)
#pragma once

#include <pycuda/array.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>

namespace pycuda {

/// The implementation of the product.
enum class ProductWay : std::uint8_t {
    Chosen, ///< cuBLAS for floats where the driver is a GPU's and the library is found; else Own
    Own,    ///< kernels of this library
};

struct ProductOptions {
    std::optional<ScalarType> dtype = {}; ///< instead of the operands' common type
    StreamRef stream = current_stream();
    ProductWay way = ProductWay::Chosen;
};

/// The product over the last axis of `a` and the last but one of `b`, both of two or more axes; the
/// axes before are broadcast. 16-bit floats are added up in float32, bools with "or". Throws
/// std::invalid_argument for shapes that do not fit, UnsupportedTypes for structs.
Array matrix_product(const Array &a, const Array &b, const ProductOptions &options = {});

} // namespace pycuda
