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
int reduction_inputs(Reduction reduction) noexcept;

struct ReduceOptions {
    /// Bit n: axis n is reduced.
    std::uint32_t axes = ~std::uint32_t{0};
    /// Whether reduced axes are kept with length 1.
    bool keep_axes = false;
    /// The type of the computation, instead of the default of the reduction.
    std::optional<ScalarType> dtype = {};
    /// A mask of bool, broadcast to the input: only elements at which it is true are reduced.
    const Array *where = nullptr;
    StreamRef stream = current_stream();
    KernelForm form = KernelForm::Chosen; ///< the result is the same
};

/// Reduces `inputs`, which broadcast to one shape. Throws std::invalid_argument for a minimum,
/// maximum or index of no elements, UnsupportedTypes, and like apply().
Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options = {});

} // namespace pycuda
