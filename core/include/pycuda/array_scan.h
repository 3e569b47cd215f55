// array_scan.h -- cumulative sums, products, minima and maxima along an axis of an array.
//
//     Array sums = scan(Scan::Sum, x, 0, {.stream = s}); // numpy.cumsum(x, axis=0)
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace pycuda {

/// The operation that combines the elements.
enum class Scan : std::uint8_t { Sum, Prod, Min, Max };

/// The scan with the name of NumPy's reduction: "sum", "prod", "min", "max"; empty for another
/// name.
std::optional<Scan> find_scan(std::string_view name) noexcept;

/// The keyword arguments of scan().
struct ScanOptions {
    /// The array for the result, instead of a new one: of the input's shape, and of a type to which
    /// the result can be cast. May be the input itself.
    const Array *out = nullptr;
    /// The type of the computation; by default the type of `out`, else the type that follows from
    /// the input's type.
    std::optional<ScalarType> dtype = {};
    GivenStream stream; ///< of the launches
};

/// Element i of the result combines the elements 0 to i along `axis`. Sums and products of small
/// integers have 64 bits, as in NumPy. 16-bit floats are combined in float32. The order of
/// operations depends on shape and layout only, so it is the same on every device. Returns `out` or
/// a new array. Throws std::invalid_argument for an axis out of bounds or an `out` of another
/// shape, UnsupportedTypes for structs and for types that cannot be cast.
Array scan(Scan kind, const Array &in, int axis, const ScanOptions &options);

} // namespace pycuda
