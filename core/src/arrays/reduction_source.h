// reduction_source.h -- the CUDA C++ of a reduction kernel.
#pragma once

#include "arrays/expression.h"
#include "arrays/kernel_table.h"

#include <pycuda/array_reduction.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace pycuda {

/// The rule by which the type of the input determines the types of a reduction.
enum class ReductionRule : std::uint8_t {
    Widen,    ///< small integers become int64 or uint64
    Same,     ///< as the input
    Test,     ///< gives bool
    Count,    ///< gives int64
    Index,    ///< gives int64; the state is a value with its index
    SquareOf, ///< gives a float; a real number for complex numbers
    Moments,  ///< the same; the state is three numbers
};

struct ReductionRow {
    std::string_view numpy_name;
    int inputs;
    ReductionRule rule;
    const char *identity;
    const char *map;
    const char *combine;
};
const ReductionRow &reduction_row(Reduction reduction) noexcept;

/// The threads of a block that compute the same output: a team.
enum class Team : std::uint8_t {
    Block,   ///< all 256
    Warp,    ///< 32 neighbours; the block has 8 outputs
    Columns, ///< the 8 threads of a column: neighbouring threads compute neighbouring outputs
    Thread,  ///< one thread; for outputs of few elements, whose number the kernel knows
};

/// All that a reduction kernel's source depends on.
struct ReductionVariant {
    Reduction reduction;
    /// Computes the elements from the inputs, with one result; null: the elements are the inputs.
    const Expression *expression = nullptr;
    std::array<ScalarType, 2> stored; ///< of the elements
    ScalarType type;                  ///< the type of the computation
    ScalarType out;
    bool masked = false;
    Team team = Team::Block;
    bool vectors = false;  ///< the reduced elements are contiguous: 16-byte accesses
    bool dense = false;    ///< the elements of a team, or for Columns the outputs, are `step`
                           ///< elements apart; used by rolled kernels
    std::int8_t step = 1;  ///< of dense kernels: 1 or one of known_steps
    bool words = false;    ///< contiguous bytes are processed eight at a time
    bool split = false;    ///< several blocks compute one output: they write states, which a second
                           ///< launch reduces
    bool partials = false; ///< the input is such states
    bool wide_index = false; ///< 64-bit
    bool rolled = false;     ///< loops instead of a copy of the code for each element
    bool pieces = false; ///< rolled, and the order does not change the result: a warp has one piece
                         ///< of a chunk, which it reads in the order of memory
    bool whole_columns = false;     ///< rolled Columns, and the outputs are a multiple of 32
    std::uint8_t column_groups = 1; ///< of rolled Columns: a thread has so many, 32 apart
    int kept = 0;                   ///< kept axes, after merging
    int reduced = 1;                ///< reduced axes, after merging
    ReductionFinish finish = ReductionFinish::Plain;
    /// Of Thread: the extents of the reduced axes; 1 in the first if there is one axis.
    std::array<std::uint8_t, 2> extents = {1, 1};
    bool rows = false;    ///< of Thread: all elements are contiguous, an output's elements together
    bool columns = false; ///< of Thread: neighbouring outputs have neighbouring elements

    int inputs() const noexcept { return reduction_row(reduction).inputs; }
    /// The type of a result before the finish.
    ScalarType unfinished() const noexcept;
    /// Identifies the source if there is no expression, else the source of this expression.
    KernelKey key() const noexcept;
    int threads() const noexcept;
    /// How many outputs a block computes.
    int outputs_per_block() const noexcept;
};

inline constexpr int most_column_groups = 64;
int team_size(Team team) noexcept;

/// Whether this variant can process bytes in words of eight: for counts, sums and tests, whose
/// results do not depend on the order.
bool is_of_bytes(const ReductionVariant &variant) noexcept;

/// Whether the order of the elements does not change the result, except for the sign of a zero and
/// the bits of a NaN.
bool is_free_of_order(const ReductionVariant &variant) noexcept;

/// Whether the kernel of a split reduction can also reduce the states that it wrote: the states
/// have the type of its elements, and the output has the type of the result.
bool takes_own_states(const ReductionVariant &variant);

std::size_t state_size(const ReductionVariant &variant) noexcept;
int reduction_vector_length(const ReductionVariant &variant) noexcept;
/// The number of elements that a team loads by vector accesses before it waits for the first one.
int reduction_step(const ReductionVariant &variant) noexcept;

/// The parameters are: out (results or states), inputs, mask if any, the numbers of the
/// expression, the divisor if there is a finish, then Geometry: outputs, length of the reduction,
/// length of a chunk, extents of kept and reduced axes, and for each kept, then each reduced axis
/// the strides of the inputs and the mask in bytes. Blocks: x over outputs, y over chunks.
std::string reduction_source(const ReductionVariant &variant);

/// The functions of a reduction's states, for kernels of other code: identity(), append(),
/// combine(), map() and finish(), the types S and O, and compute() of the expression. Requires the
/// type Index.
std::string reduction_functions(const ReductionVariant &variant);

/// Chooses the types of the computation and of the result for elements of `type`.
void choose_result_types(ReductionVariant &variant, ScalarType type,
                         std::optional<ScalarType> dtype) noexcept;

/// A reduction whose elements an expression computes.
struct ComputedElements {
    const Expression &expression;
    std::span<const Operand> numbers; ///< of the expression, in their order
    std::function<Function(const ReductionVariant &)> kernel;
};

/// As reduce() of one array. The inputs are the arrays of the expression, at most 8.
Array reduce(Reduction reduction, std::span<const Array *const> inputs,
             const ReduceOptions &options, const ComputedElements &elements);

} // namespace pycuda
