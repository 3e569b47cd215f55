// array_parts.h -- several copies between arrays as one piece of work.
//
//     assign_parts({{out[:3], x}, {out[3:], y}})      concatenate([x, y])
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/stream.h>

#include <span>

namespace pycuda {

/// `to = from`, with conversion and broadcasting.
struct PartCopy {
    Array to;   ///< is written
    Array from; ///< is broadcast to the shape of `to`
};

/// As assign() of each copy, one after the other. Small copies of elements of one type, none of
/// which reads what another one writes, are one launch.
void assign_parts(std::span<const PartCopy> parts, StreamRef stream);

} // namespace pycuda
