// reduction_source.cpp -- generates a reduction kernel: types, functions of states, and the names
// that the fixed text in device/reduction*.cuh uses.
//
// A team of threads reduces a chunk of the elements of one output. Each thread keeps several
// states. States are combined as a tree:
//
//     thread 0   s0 = x[0]  + x[1024] ..  s1 = x[256] + ..  s2  s3   ->  (s0 + s1) + (s2 + s3)
//     team       128 + 64 + 32 + ... threads join pairs              ->  one state
//
// If a warp is a vector of a CPU, kernels are `rolled`: the repeated code that keeps several
// accesses in flight becomes a loop, which compiles in a third of the time. The states and the
// order in which they are combined do not change. If this order does not matter, as for counts,
// bytes are processed in words of eight.
//
// If an output has few elements, as a sum over an axis of 3, a thread computes it alone.
//
// In a long reduction, several blocks each reduce one chunk and write their states. A second launch
// reduces these states.
#include "arrays/reduction_source.h"

#include "arrays/device_code.h"
#include "arrays/expression.h"
#include "arrays/operation_types.h"
#include "driver/one_of.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/device/reduction.cuh.h"
#include "arrays/device/reduction_states.cuh.h"

#include <algorithm>
#include <vector>

namespace pycuda {
namespace {

constexpr int vectors_per_step = 4; ///< accesses of a thread that are in flight

constexpr ReductionRow rows[] = {
#define BY(operation) operation_expression(Operation::operation)
#define PYCUDA_REDUCTION(name, numpy_name, inputs, rule, identity, map, combine)                   \
    {numpy_name, inputs, ReductionRule::rule, identity, map, combine},
#include <pycuda/reductions.def>
#undef PYCUDA_REDUCTION
#undef BY
};
constexpr std::uint64_t reductions = std::size(rows);

bool is_index(const ReductionVariant &variant) {
    return reduction_row(variant.reduction).rule == ReductionRule::Index;
}

bool is_of_moments(const ReductionVariant &variant) {
    return reduction_row(variant.reduction).rule == ReductionRule::Moments;
}

/// The size of compute_name(type): small floats are computed as float.
std::size_t computed_size(ScalarType type) {
    return is_float(type) && item_size(type) == 2 ? 4 : item_size(type);
}

/// The type of a state during the computation.
std::string state_type(const ReductionVariant &variant) {
    switch (reduction_row(variant.reduction).rule) {
    case ReductionRule::Test:
        return "bool";
    case ReductionRule::Count:
        return "long long";
    case ReductionRule::SquareOf:
        return compute_name(real_type(variant.type));
    case ReductionRule::Index:
    case ReductionRule::Moments:
        return "State";
    default:
        return compute_name(variant.type);
    }
}

/// Whether array_group() combines elements as groups first, and then their states.
bool is_grouped(const ReductionVariant &variant) noexcept {
    return is_of_moments(variant) && !variant.masked && !variant.partials && !variant.expression &&
           variant.team != Team::Thread;
}

/// Whether one warp computes what the team does. Not with accesses of 16 bytes, with which a warp
/// reads long pieces anyway. If the order does not matter, the warps of a block have a piece each.
bool has_one_warp(const ReductionVariant &variant) noexcept {
    return variant.rolled && variant.team == Team::Block && !variant.vectors && !variant.words &&
           !variant.pieces && !is_grouped(variant);
}

/// Columns are read with accesses of about 4 bytes, so more of them must be in flight.
int elements_per_turn(const ReductionVariant &variant) noexcept {
    return variant.team == Team::Columns ? 8 : 4;
}

ScalarType widened(ScalarType type) noexcept {
    if (is_bool(type) || type_class(type) == TypeClass::Signed)
        return ScalarType::Int64;
    return type_class(type) == TypeClass::Unsigned ? ScalarType::UInt64 : type;
}

/// An array that a kernel reads: an input, the mask, or the states of an earlier launch.
struct Walker {
    std::string name, type;
};
std::vector<Walker> walkers_of(const ReductionVariant &variant) {
    if (variant.partials)
        return {{"p0", "Passed"}};
    std::vector<Walker> walkers;
    const auto add = [&](std::size_t number, ScalarType type) {
        walkers.push_back({"p" + std::to_string(number), std::string(cuda_name(type))});
    };
    if (variant.expression != nullptr) {
        for (std::size_t k = 0; k < variant.expression->operands.size(); ++k)
            if (!variant.expression->operands[k].is_number)
                add(k, variant.expression->operands[k].type);
    } else {
        for (int i = 0; i < variant.inputs(); ++i)
            add(static_cast<std::size_t>(i), variant.stored[i]);
    }
    if (variant.masked)
        walkers.push_back({"mask", "bool"});
    return walkers;
}

/// The types that reduction_states.cuh requires.
std::string types_code(const ReductionVariant &variant) {
    const bool index = is_index(variant), complex = is_complex(variant.type);
    // Indices of a launch's own elements have the width of its indices. Indices that pass from one
    // launch to the next have 64 bits.
    const bool wide = variant.partials || variant.wide_index;
    const bool any_complex = complex || is_complex(variant.out) || is_complex(variant.stored[0]) ||
                             is_complex(variant.stored[variant.inputs() - 1]);
    return type_alias("L", std::string(cuda_name(variant.type))) +
           type_alias("T", compute_name(variant.type)) +
           type_alias("R", compute_name(real_type(variant.type))) +
           type_alias("Place", wide ? "long long" : "int") + define("INDEX", index) +
           define("MOMENTS", is_of_moments(variant)) + define("COMPLEX", any_complex) +
           define("WORDS", variant.words) + define("ROLLED_ORDER", variant.rolled && !complex) +
           define("APART", index && computed_size(variant.type) < (wide ? 8u : 4u));
}

/// The types of states, of the output and of the input.
std::string state_types_code(const ReductionVariant &variant) {
    std::string code = type_alias("S", state_type(variant));
    if (!is_index(variant))
        code += type_alias("Passed", "S");
    code += type_alias("O", variant.split ? "Passed" : std::string(cuda_name(variant.out)));
    if (variant.expression != nullptr)
        code += type_alias("type_element", std::string(cuda_name(variant.stored[0])));
    for (const Walker &walker : walkers_of(variant))
        code += type_alias("type_" + walker.name, walker.type);
    return code;
}

/// Combines a thread's state with that of a later element, given the text that combines any two.
std::string append_text(const ReductionVariant &variant) {
    std::string text = reduction_row(variant.reduction).combine;
    constexpr std::string_view any = "array_first(";
    if (text.starts_with(any) && !variant.masked && !variant.partials)
        text.replace(0, any.size(), "array_later(");
    return text;
}

/// finish(): the result of a state, in memory.
std::string finish_code(const ReductionVariant &variant) {
    const std::string inline_ = "__device__ __forceinline__ ";
    const bool index = is_index(variant);
    if (variant.finish == ReductionFinish::Plain) {
        const std::string result = variant.split            ? index ? "O{s.value, s.place}" : "s"
                                   : index                  ? "s.place"
                                   : is_of_moments(variant) ? "array_convert<O>(s.squares)"
                                                            : "array_convert<O>(s)";
        return inline_ + "O finish(S s) { return " + result + "; }\n";
    }
    // As operations on an array of the unfinished results.
    const ScalarType type = variant.unfinished();
    const std::string computed = compute_name(type),
                      quotient = "array_convert<N>(array_convert<M>(" +
                                 std::string(operation_expression(Operation::Divide)) + "))";
    return type_alias("M", std::string(cuda_name(type))) + type_alias("N", computed) + inline_ +
           "O finish(S s, double divisor) {\n    N a = array_convert<N>(array_convert<M>(" +
           (is_of_moments(variant) ? "s.squares" : "s") +
           "));\n    const N b = array_convert<N>(array_convert<M>(divisor));\n    a = " +
           quotient + ";\n    return array_convert<O>(" +
           (variant.finish == ReductionFinish::DivideRoot
                ? "array_convert<M>(" + std::string(operation_expression(Operation::Sqrt)) + ")"
                : "a") +
           ");\n}\n";
}

/// map(), combine(), append() and finish().
std::string state_code(const ReductionVariant &variant) {
    const ReductionRow &row = reduction_row(variant.reduction);
    const std::string inline_ = "__device__ __forceinline__ ";
    std::string code = inline_ + "S identity() { return " + row.identity + "; }\n" + inline_ +
                       "S combine(S a, S b) { return " + row.combine + "; }\n" + inline_ +
                       "S append(S a, S b) { return " + append_text(variant) + "; }\n";
    const bool index = is_index(variant);
    if (variant.partials) {
        code += inline_ + "S map(Passed x, Index) { return " +
                (index ? "S{x.value, x.place}" : "x") + "; }\n";
    } else {
        std::string parameters, conversions;
        for (int i = 0; i < variant.inputs(); ++i) {
            const std::string name = i == 0 ? "x" : "y", index = std::to_string(i);
            parameters +=
                (variant.expression ? "type_element" : "type_p" + index) + " in" + index + ", ";
            conversions +=
                "    const T " + name + " = array_convert<T>(array_convert<L>(in" + index + "));\n";
        }
        if (variant.masked) {
            parameters += "bool counts, ";
            conversions += "    if (!counts)\n        return identity();\n";
        }
        code += inline_ + "S map(" + parameters + "Index index) {\n" + conversions + "    return " +
                row.map + ";\n}\n";
    }
    return code + finish_code(variant);
}

/// Whether a warp stops when it knows the result.
bool stops_early(const ReductionVariant &variant) noexcept {
    return variant.words && reduction_row(variant.reduction).rule == ReductionRule::Test;
}

/// How bytes are processed in words of eight.
std::string words_names(const ReductionVariant &variant) {
    const bool sum = variant.reduction == Reduction::Sum;
    const bool is_signed = sum && variant.stored[0] == ScalarType::Int8;
    const bool as_they_are =
        variant.reduction == Reduction::Any || (sum && !is_bool(variant.stored[0]));
    std::string code = define("WORD(x)", is_signed     ? "((x) ^ 0x80 * every_byte)"
                                         : as_they_are ? "(x)"
                                                       : "array_nonzero_bytes(x)");
    if (variant.reduction == Reduction::Any)
        return code + define("ADD_WORD", "even |= x") + define("OF_WORDS", "S(even != 0)");
    if (variant.reduction == Reduction::All)
        return code + define("ADD_WORD", "odd |= x ^ every_byte") +
               define("OF_WORDS", "S(odd == 0)");
    return code + define("ADD_WORD", "even += x & even_bytes, odd += x >> 8 & even_bytes") +
           define("OF_WORDS",
                  "S(array_sum_of_16(even) + array_sum_of_16(odd)" +
                      std::string(is_signed ? " - 1024 * ((to - from + 31) / 32)" : "") + ")");
}

/// The names that reduction.cuh requires.
std::string names_code(const ReductionVariant &variant) {
    std::string walkers, elements, parameters = "O *out";
    for (const Walker &walker : walkers_of(variant)) {
        walkers += "X(" + walker.name + ") ";
        elements += "x(" + walker.name + "), ";
        parameters += ", const type_" + walker.name + " *" + walker.name;
    }
    if (const Expression *expression = variant.expression) {
        // The mask is the last walker.
        elements = "compute(0";
        for (std::size_t k = 0; k < expression->operands.size(); ++k) {
            const std::string name = "p" + std::to_string(k);
            const bool is_number = expression->operands[k].is_number;
            elements += is_number ? ", " + name : ", x(" + name + ")";
            if (is_number)
                parameters += ", type_" + name + " " + name;
        }
        elements += variant.masked ? ").out0, x(mask), " : ").out0, ";
    }
    const bool finishes = variant.finish != ReductionFinish::Plain;
    if (finishes)
        parameters += ", double divisor";
    const bool columns = variant.team == Team::Columns;
    const int turn = elements_per_turn(variant), length = reduction_vector_length(variant);
    // Combining moments takes so long that a loop is faster only if it runs once for many elements.
    const bool joins_in_loops =
        is_index(variant) || (is_of_moments(variant) && (variant.partials || variant.split));
    return define("PARAMETERS", parameters) + define("WALKERS(X)", walkers) +
           define("MAP(x, index)", "map(" + elements + "index)") +
           define("FINISH(s)", finishes ? "finish(s, divisor)" : "finish(s)") +
           define("TEAM_BLOCK", variant.team == Team::Block) +
           define("TEAM_WARP", variant.team == Team::Warp) + define("TEAM_COLUMNS", columns) +
           define("TEAM_THREAD", variant.team == Team::Thread) +
           define("EXTENT_0", variant.extents[0]) + define("EXTENT_1", variant.extents[1]) +
           define("ADJACENT_ROWS", variant.rows) + define("ADJACENT_COLUMNS", variant.columns) +
           define("KEPT_AXES", variant.kept) + define("REDUCED_AXES", variant.reduced) +
           define("DENSE", variant.dense && !columns) + define("STEP", variant.step) +
           define("DENSE_COLUMNS", variant.dense && columns) +
           define("STOPS", stops_early(variant)) + define("GROUPED", is_grouped(variant)) +
           define("VECTORS", variant.vectors) + define("LENGTH", length) +
           define("STEPS", vectors_per_step) + define("TURN", turn) +
           define("GROUP", std::clamp(16 / length, 1, vectors_per_step)) +
           define("STATES", is_of_moments(variant) ? 1
                            : columns              ? 2
                                                   : turn) +
           define("THREADS", variant.threads()) + define("ONE_WARP", has_one_warp(variant)) +
           define("COLUMN_GROUPS", variant.column_groups) + define("PIECES", variant.pieces) +
           define("WHOLE_COLUMNS", variant.whole_columns) +
           define("ROLLED",
                  variant.rolled && (variant.vectors || variant.words || variant.partials)) +
           define("ROLLED_JOIN", variant.rolled && joins_in_loops) +
           (variant.words ? words_names(variant) : "");
}

} // namespace

const ReductionRow &reduction_row(Reduction reduction) noexcept {
    return rows[static_cast<std::size_t>(reduction)];
}

std::optional<Reduction> find_reduction(std::string_view numpy_name) noexcept {
    for (std::size_t i = 0; i < std::size(rows); ++i)
        if (rows[i].numpy_name == numpy_name)
            return static_cast<Reduction>(i);
    return {};
}

int reduction_inputs(Reduction reduction) noexcept { return reduction_row(reduction).inputs; }

KernelKey ReductionVariant::key() const noexcept {
    static_assert(3 * reductions <= 1 << 6);
    const bool thread = team == Team::Thread;
    const auto known_step = std::ranges::find(known_steps, step) - std::begin(known_steps);
    return {
        KernelFamily::Reduction,
        {{static_cast<std::uint64_t>(reduction) + reductions * static_cast<std::uint64_t>(finish),
          6},
         {stored[0], 4},
         {inputs() == 2 ? stored[1] : ScalarType{}, 4},
         {type, 4},
         {out, 4},
         {masked, 1},
         {team, 2},
         {vectors, 1},
         {dense, 1},
         {words, 1},
         {split, 1},
         {partials, 1},
         {wide_index, 1},
         {rolled, 1},
         {pieces, 1},
         {thread ? rows : whole_columns, 1},
         {thread ? extents[0] : column_groups, 7},
         {thread      ? columns
          : step == 1 ? 0
                      : 1 + known_step,
          3},
         {extents[1], 5},
         {kept, 6},
         {reduced, 6}}};
}

ScalarType ReductionVariant::unfinished() const noexcept {
    if (is_one_of(reduction_row(reduction).rule, ReductionRule::SquareOf, ReductionRule::Moments))
        return real_type(type);
    return finish == ReductionFinish::Plain ? out : type;
}

int ReductionVariant::threads() const noexcept { return has_one_warp(*this) ? 32 : 256; }

int ReductionVariant::outputs_per_block() const noexcept {
    if (team == Team::Columns)
        return 32 * column_groups;
    return team == Team::Thread ? 256 : team == Team::Warp ? 8 : 1;
}

bool is_of_bytes(const ReductionVariant &variant) noexcept {
    using enum Reduction;
    using enum ScalarType;
    return !variant.masked && variant.expression == nullptr && item_size(variant.stored[0]) == 1 &&
           (is_one_of(variant.reduction, Any, All, CountNonzero) ||
            // exact: the sum of a chunk fits a double's mantissa
            (variant.reduction == Sum && is_one_of(variant.type, Int64, UInt64, Float64)));
}

bool is_free_of_order(const ReductionVariant &variant) noexcept {
    using enum Reduction;
    const Reduction reduction = variant.reduction;
    return is_one_of(reduction, Any, All, CountNonzero) ||
           (is_one_of(reduction, Min, Max, NanMin, NanMax, ArgMin, ArgMax) &&
            !is_complex(variant.type)) ||
           (is_one_of(reduction, Sum, Prod, Dot) && is_integer(variant.type));
}

bool takes_own_states(const ReductionVariant &variant) {
    using enum Reduction;
    // Of others, the state is not an element, or the element's map() must not be applied to a
    // state.
    return is_one_of(variant.reduction, Sum, Prod, Min, Max, Any, All) && !variant.masked &&
           variant.expression == nullptr && variant.stored[0] == variant.type &&
           variant.type == variant.out && state_type(variant) == cuda_name(variant.out);
}

std::size_t state_size(const ReductionVariant &variant) noexcept {
    const bool small_float = is_float(variant.type) && item_size(variant.type) == 2;
    const std::size_t computed = computed_size(variant.type);
    switch (reduction_row(variant.reduction).rule) {
    case ReductionRule::Test:
        return 1;
    case ReductionRule::Count:
        return 8;
    case ReductionRule::Index:
        return computed <= 8 ? 16 : 24;
    case ReductionRule::SquareOf:
        return small_float ? 4 : item_size(real_type(variant.type));
    case ReductionRule::Moments:
        return computed + 2 * (small_float ? 4 : item_size(real_type(variant.type)));
    default:
        return computed;
    }
}

int reduction_vector_length(const ReductionVariant &variant) noexcept {
    std::size_t widest = item_size(variant.stored[0]);
    if (variant.inputs() == 2)
        widest = std::max(widest, item_size(variant.stored[1]));
    return static_cast<int>(16 / widest);
}

int reduction_step(const ReductionVariant &variant) noexcept {
    return vectors_per_step * reduction_vector_length(variant) * team_size(variant.team);
}

int team_size(Team team) noexcept {
    return team == Team::Block ? 256 : team == Team::Warp ? 32 : team == Team::Columns ? 8 : 1;
}

void choose_result_types(ReductionVariant &variant, ScalarType type,
                         std::optional<ScalarType> dtype) noexcept {
    switch (reduction_row(variant.reduction).rule) {
    case ReductionRule::Widen:
        variant.type = variant.out = dtype ? *dtype : widened(type);
        return;
    case ReductionRule::Same:
        variant.type = variant.out = dtype ? *dtype : type;
        return;
    case ReductionRule::Test:
        variant.type = type;
        variant.out = ScalarType::Bool;
        return;
    case ReductionRule::Count:
    case ReductionRule::Index:
        variant.type = type;
        variant.out = ScalarType::Int64;
        return;
    case ReductionRule::SquareOf:
    case ReductionRule::Moments:
        variant.type = dtype ? *dtype : type;
        if (is_bool(variant.type) || is_integer(variant.type))
            variant.type = ScalarType::Float64;
        variant.out = real_type(variant.type);
        return;
    }
}

std::string reduction_functions(const ReductionVariant &variant) {
    return types_code(variant) + std::string(device_code::reduction_states_cuh) +
           (variant.expression ? expression_functions(*variant.expression) : "") +
           state_types_code(variant) + state_code(variant);
}

std::string reduction_source(const ReductionVariant &variant) {
    const std::string code = type_alias("Index", variant.wide_index ? "long long" : "int") +
                             reduction_functions(variant) + names_code(variant) +
                             std::string(device_code::axes_cuh) +
                             std::string(device_code::reduction_cuh);
    return with_prelude(code);
}

} // namespace pycuda
