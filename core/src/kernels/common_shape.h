// common_shape.h -- the shape to which the inputs of a fused function are broadcast.
#pragma once

#include <pycuda/array.h>

#include <span>

namespace pycuda {

/// Throws if the shapes cannot be broadcast. `inputs` is not empty.
inline Layout common_shape(std::span<const Array *const> inputs) {
    Layout shape = inputs[0]->layout();
    for (const Array *input : inputs.subspan(1))
        shape = broadcast_shapes(shape, input->layout());
    return shape;
}

} // namespace pycuda
