// array_reduction.h -- reductions over axes of arrays: sum, min, max, argmax and others.
//
// The result is the same for each run and each device: the order of the additions depends on the
// shape only. Each thread sums a short run of elements; the sums of the threads are added pairwise.
#pragma once

#include <pycuda/array.h>
#include <pycuda/array_operation.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace pycuda {

/// The reductions; see reductions.def.
enum class Reduction : std::uint8_t {
#define PYCUDA_REDUCTION(name, numpy_name, inputs, rule, identity, map, combine) name,
#include <pycuda/reductions.def>
#undef PYCUDA_REDUCTION
};

/// The reduction with this NumPy name; empty if there is none.
std::optional<Reduction> find_reduction(std::string_view numpy_name) noexcept;
/// The number of input arrays: 1 or 2.
int reduction_inputs(Reduction reduction) noexcept;

/// What a reduction does with each result before it is written.
enum class ReductionFinish : std::uint8_t {
    Plain,
    Divide,     ///< divides it by a number: a mean or a variance
    DivideRoot, ///< the square root of the quotient: a standard deviation
};

/// The keyword arguments of a NumPy reduction, for reduce().
struct ReduceOptions {
    /// Bit n: axis n is reduced.
    std::uint32_t axes = ~std::uint32_t{0};
    /// Whether reduced axes are kept with length 1.
    bool keep_axes = false;
    /// The type of the computation, instead of the default of the reduction.
    std::optional<ScalarType> dtype = {};
    /// A mask of bool, broadcast to the input: only elements at which it is true are reduced.
    const Array *where = nullptr;
    GivenStream stream; ///< of the launches
    /// Only for results of floats and complex numbers. Bit for bit what divide() and sqrt() of the
    /// result give, in the result's type.
    ReductionFinish finish = ReductionFinish::Plain;
    /// With a finish that divides: the number by which the result is divided.
    double divisor = 1;
    /// With a finish: the type of the result, if it is not that of the computation.
    std::optional<ScalarType> finished = {};
};

/// Reduces `inputs`, which broadcast to one shape. Throws std::invalid_argument for a minimum,
/// maximum or index of no elements, and for a finish of integers; UnsupportedTypes, and like
/// apply().
Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options);

} // namespace pycuda
