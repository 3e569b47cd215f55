// array_reduction.h -- reductions over axes of arrays: sum, min, max, argmax and others.
//
// The result is the same for each run and each device: the order of the additions depends on the
// shape only. Sums are taken by threads over short runs and then pairwise.
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

/// By NumPy's name; empty where there is none.
std::optional<Reduction> find_reduction(std::string_view numpy_name) noexcept;
int reduction_inputs(Reduction reduction) noexcept;

struct ReduceOptions {
    /// Bit n: axis n is reduced.
    std::uint32_t axes = ~std::uint32_t{0};
    /// Whether reduced axes stay, with length 1.
    bool keep_axes = false;
    /// The type to compute in, instead of the usual one.
    std::optional<ScalarType> dtype = {};
    /// Of bool, broadcast to the input: only where it is true do elements count.
    const Array *where = nullptr;
    StreamRef stream = current_stream();
    KernelForm form = KernelForm::Chosen; ///< the result is the same
};

/// Reduces `inputs`, which broadcast to one shape. Throws std::invalid_argument where there is
/// nothing to take a minimum or an index of, UnsupportedTypes, and as apply() does.
Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options = {});

} // namespace pycuda
