// array_scan.h -- cumulative sums, products, minima and maxima along an axis of an array.
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

struct ScanOptions {
    /// The array for the result, instead of a new one: of the input's shape. The result must be
    /// castable to its type. May be the input itself.
    const Array *out = nullptr;
    /// The type to compute in, instead of out's or the one that follows from the input's.
    std::optional<ScalarType> dtype = {};
    StreamRef stream = current_stream();
    KernelForm form = KernelForm::Chosen;
};

/// Element i of the result is elements 0 to i along `axis` joined. Sums and products of small
/// integers are of 64 bits, as NumPy's. 16-bit floats are joined in float32. The order of
/// operations follows from the shape and layout alone: it is the same on every device. Returns
/// `out` or a new array. Throws std::invalid_argument for an axis that is not there or an `out` of
/// another shape, UnsupportedTypes for structs and for types that do not fit.
Array scan(Scan kind, const Array &in, int axis, const ScanOptions &options = {});

} // namespace pycuda
