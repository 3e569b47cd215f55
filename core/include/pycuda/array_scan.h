// array_scan.h -- running sums, products and extrema along an axis of an array.
//
//     Array sums = scan(Scan::Sum, x, 0);              // numpy.cumsum(x, axis=0)
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace pycuda {

enum class Scan : std::uint8_t { Sum, Prod, Min, Max };

/// By the name of NumPy's reduction: "sum", "prod", "min", "max"; empty where there is none.
std::optional<Scan> find_scan(std::string_view name) noexcept;

/// Element i of the result is elements 0 to i along `axis` joined. Sums and products of small
/// integers are of 64 bits, as NumPy's; `dtype` is the type to compute in instead. 16-bit floats
/// are joined in float32. The order of operations follows from the shape and layout alone: it is
/// the same on every device. Throws std::invalid_argument for an axis that is not there,
/// UnsupportedTypes for structs.
Array scan(Scan kind, const Array &in, int axis, std::optional<ScalarType> dtype = {},
           StreamRef stream = {}, KernelForm form = KernelForm::Chosen);

} // namespace pycuda
