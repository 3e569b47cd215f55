// reduction_source.cpp -- writing a reduction kernel.
//
// A team of threads reduces a chunk of the elements of one output. Each thread keeps several
// states, so that additions do not wait for each other and few are taken in a row; then states are
// joined as a tree, in the thread first, then over the team through shared memory.
//
//     thread 0   s0 = x[0]  + x[1024] ..  s1 = x[256] + ..  s2  s3   ->  (s0 + s1) + (s2 + s3)
//     team       128 + 64 + 32 + ... threads join pairs              ->  one state
//
// Of a team that is a block, all but a warp are joined through shared memory, and a warp's lanes by
// shuffles.
//
// Where a warp is a vector of a CPU, kernels are `rolled`: what takes several accesses to have them
// under way at once is a loop, which compiles in a third of the time. The states and the order of
// what joins them are the same. Where that order is all one, as for counts, bytes are taken in
// words of eight (words_code).
//
// Where a reduction is long, several blocks have a chunk of it each and leave their states; a
// second launch reduces those.
#include "arrays/reduction_source.h"

#include "arrays/device_code.h"
#include "arrays/reduction_loops.h"

#include <algorithm>
#include <vector>

namespace pycuda {
namespace {

constexpr ReductionRow rows[] = {
#define PYCUDA_REDUCTION(name, numpy_name, inputs, rule, identity, map, combine)                   \
    {numpy_name, inputs, ReductionRule::rule, identity, map, combine},
#include <pycuda/reductions.def>
#undef PYCUDA_REDUCTION
};

constexpr const char *limits = R"__(
template <class T> __device__ __forceinline__ T array_lowest(T) {
    return T(-1) < T(0) ? T(T(1) << (8 * sizeof(T) - 1)) : T(0);
}
template <class T> __device__ __forceinline__ T array_highest(T x) { return T(~array_lowest(x)); }
template <class T> __device__ __forceinline__ T array_not_a_number(T x) { return x; }
#define LIMITS(T, infinity, nan)                                                          \
    __device__ __forceinline__ T array_lowest(T) { return -infinity; }                    \
    __device__ __forceinline__ T array_highest(T) { return infinity; }                    \
    __device__ __forceinline__ T array_not_a_number(T) { return nan; }
LIMITS(float, __int_as_float(0x7f800000), __int_as_float(0x7fffffff))
LIMITS(double, __longlong_as_double(0x7ff0000000000000), __longlong_as_double(0x7fffffffffffffff))
__device__ __forceinline__ bool array_lowest(bool) { return false; }
__device__ __forceinline__ bool array_highest(bool) { return true; }
template <class T> __device__ __forceinline__ T array_square_of(T x) { return x * x; }
template <class S> __device__ __forceinline__ S array_first(S a, S b, bool a_wins, bool b_wins) {
    const bool b_precedes = b_wins | (!a_wins & (b.place < a.place)); // no branches
    return (b.place >= 0) & ((a.place < 0) | b_precedes) ? b : a;
}
/// As array_first(), where b comes behind a and is there.
template <class S> __device__ __forceinline__ S array_later(S a, S b, bool, bool b_wins) {
    return (a.place < 0) | b_wins ? b : a;
}
)__";

constexpr const char *order = R"__(
template <class T> __device__ __forceinline__ bool array_is_less(T a, T b) {
    return array_nan(a) ? !array_nan(b) : a < b;
}
template <class T> __device__ __forceinline__ bool array_is_more(T a, T b) {
    return array_nan(a) ? !array_nan(b) : b < a;
}
)__";

// The same of real numbers with fewer masks, which are what a warp's vector is slow at.
constexpr const char *rolled_order = R"__(
template <class T> __device__ __forceinline__ bool array_is_less(T a, T b) {
    return b == b && !(a >= b);
}
template <class T> __device__ __forceinline__ bool array_is_more(T a, T b) {
    return b == b && !(a <= b);
}
)__";

// Of the bytes of a word at once. What is added lies in the even and the odd bytes of two sums,
// which are 16 bits wide then and hold 255 additions.
constexpr const char *words_code = R"__(
typedef unsigned long long Word;
constexpr Word every_byte = 0x0101010101010101, even_bytes = 0x00ff00ff00ff00ff;
/// 1 in each byte that is not 0.
__device__ __forceinline__ Word array_nonzero_bytes(Word x) {
    return ((((x & 0x7f * every_byte) + 0x7f * every_byte) | x) >> 7) & every_byte;
}
/// The sum of four numbers of 16 bits.
__device__ __forceinline__ long long array_sum_of_16(Word x) {
    x = (x & 0x0000ffff0000ffff) + (x >> 16 & 0x0000ffff0000ffff);
    return (long long)((x & 0xffffffff) + (x >> 32));
}
)__";

constexpr const char *exchanges = R"__(
/// The state of the lane `distance` above in the warp.
template <class S> __device__ __forceinline__ S array_from_above(S state, int distance) {
    unsigned words[(sizeof(S) + 3) / 4] = {};
    memcpy(words, &state, sizeof(S));
#pragma unroll
    for (unsigned &word : words)
        word = __shfl_down_sync(0xffffffffu, word, distance);
    memcpy(&state, words, sizeof(S));
    return state;
}
template <bool Eights, bool Fours> struct array_unit { typedef unsigned char type; };
template <bool Fours> struct array_unit<true, Fours> { typedef unsigned long long type; };
template <> struct array_unit<false, true> { typedef unsigned type; };
/// The states of a block's 256 threads in shared memory: first the first unit of each, and so on.
template <class S> struct array_states {
    typedef typename array_unit<sizeof(S) % 8 == 0, sizeof(S) % 4 == 0>::type Unit;
    Unit *memory;
    __device__ __forceinline__ void put(int i, const S &state) const {
        Unit units[sizeof(S) / sizeof(Unit)];
        memcpy(units, &state, sizeof(S));
#pragma unroll
        for (int k = 0; k < int(sizeof(S) / sizeof(Unit)); ++k)
            memory[k * 256 + i] = units[k];
    }
    __device__ __forceinline__ S get(int i, S state) const {
        Unit units[sizeof(S) / sizeof(Unit)];
#pragma unroll
        for (int k = 0; k < int(sizeof(S) / sizeof(Unit)); ++k)
            units[k] = memory[k * 256 + i];
        memcpy(&state, units, sizeof(S));
        return state;
    }
};
)__";

// Of states with padding, which is not to be read: values apart from places.
constexpr const char *apart_code = R"__(
template <> struct array_states<State> {
    typedef decltype(State::place) Unit;
    Unit *memory;
    __device__ __forceinline__ T *values() const { return reinterpret_cast<T *>(memory + 256); }
    __device__ __forceinline__ void put(int i, const State &state) const {
        memory[i] = state.place;
        values()[i] = state.value;
    }
    __device__ __forceinline__ State get(int i, State state) const {
        state.place = memory[i];
        state.value = values()[i];
        return state;
    }
};
)__";

// Numbers as their mean, the sum of the squares of their deviations from it, and how many they are.
// Two sets are joined as Chan, Golub and LeVeque have it (Updating Formulae and a Pairwise
// Algorithm for Computing Sample Variances, 1979). Numbers are taken less the output's first one:
// means are then as small as deviations, and so is what they are rounded by.
constexpr const char *moments_code = R"__(
template <class T> __device__ __forceinline__ T array_part(T x, T part) { return x * part; }
struct State {
    T mean;
    R squares, count;
};
__device__ __forceinline__ State array_merge(State a, State b) {
    const R count = a.count + b.count, part = b.count / (count < R(1) ? R(1) : count);
    const T step = b.mean - a.mean;
    return {a.mean + array_part(step, part),
            a.squares + b.squares + array_square_of(step) * (a.count * part), count};
}
template <int N> __device__ __forceinline__ State array_group(const T (&x)[N]) {
    T sum = T(0);
#pragma unroll
    for (int k = 0; k < N; ++k)
        sum = sum + x[k];
    const T mean = array_part(sum, R(1) / N);
    R squares = R(0);
#pragma unroll
    for (int k = 0; k < N; ++k)
        squares = squares + array_square_of(T(x[k] - mean));
    return {mean, squares, R(N)};
}
)__";

constexpr const char *complex_limits = R"__(
#define COMPLEX_LIMIT(name)                                                               \
    template <class T> __device__ __forceinline__ array_complex<T> name(array_complex<T>) { \
        return {name(T(0)), name(T(0))};                                                  \
    }
COMPLEX_LIMIT(array_lowest)
COMPLEX_LIMIT(array_highest)
COMPLEX_LIMIT(array_not_a_number)
template <class T> __device__ __forceinline__ T array_square_of(array_complex<T> x) {
    return x.re * x.re + x.im * x.im;
}
template <class T, class R> __device__ __forceinline__ array_complex<T> array_part(array_complex<T> x, R part) {
    return {x.re * part, x.im * part};
}
)__";

bool is_index(const ReductionVariant &variant) {
    return reduction_row(variant.reduction).rule == ReductionRule::Index;
}

bool is_of_moments(const ReductionVariant &variant) {
    return reduction_row(variant.reduction).rule == ReductionRule::Moments;
}

/// The type of a state, as it is computed.
/// Of compute_name(type): small floats are computed as float.
std::size_t computed_size(ScalarType type) {
    return is_float(type) && item_size(type) == 2 ? 4 : item_size(type);
}

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

std::string types_code(const ReductionVariant &variant) {
    std::string code;
    for (int i = 0; i < variant.inputs(); ++i)
        code += "typedef " + std::string(cuda_name(variant.stored[i])) + " A" + std::to_string(i) +
                ";\n";
    code += "typedef " + std::string(cuda_name(variant.type)) + " L;\ntypedef " +
            compute_name(variant.type) + " T;\n";
    code += "typedef " + std::string(variant.wide_index ? "long long" : "int") + " Index;\n";
    if (is_of_moments(variant))
        code += "typedef " + compute_name(real_type(variant.type)) + " R;\n" + moments_code;
    // Places of a launch's own elements are as wide as its indices; those that pass from one launch
    // to the next are wide.
    if (is_index(variant)) {
        const bool wide = variant.partials || variant.wide_index;
        code += "struct State {\n    T value;\n    " + std::string(wide ? "long long" : "int") +
                " place;\n};\nstruct Passed {\n    T value;\n    long long place;\n};\n";
        if (computed_size(variant.type) < (wide ? 8 : 4))
            code += apart_code;
    } else {
        code += "typedef " + state_type(variant) + " Passed;\n";
    }
    code += "typedef " + state_type(variant) + " S;\ntypedef " +
            (variant.split ? "Passed" : std::string(cuda_name(variant.out))) + " O;\n";
    if (variant.partials)
        code += "typedef Passed I0;\n";
    else
        for (int i = 0; i < variant.inputs(); ++i)
            code += "typedef A" + std::to_string(i) + " I" + std::to_string(i) + ";\n";
    return code;
}

/// Joins a thread's state with one of a later element, given the text that joins any two.
std::string append_text(const ReductionVariant &variant) {
    std::string text = reduction_row(variant.reduction).combine;
    constexpr std::string_view any = "array_first(";
    if (text.starts_with(any) && !variant.masked && !variant.partials)
        text.replace(0, any.size(), "array_later(");
    return text;
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
            parameters += "A" + index + " in" + index + ", ";
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
    const std::string result = variant.split            ? index ? "O{s.value, s.place}" : "s"
                               : index                  ? "s.place"
                               : is_of_moments(variant) ? "array_convert<O>(s.squares)"
                                                        : "array_convert<O>(s)";
    return code + inline_ + "O finish(S s) { return " + result + "; }\n";
}

std::string geometry(const ReductionVariant &variant) {
    const std::string walkers = std::to_string(walker_count(variant));
    const std::string kept = std::to_string(std::max(variant.kept, 1));
    const std::string reduced = std::to_string(variant.reduced);
    return "struct Geometry {\n    Index outputs, length, chunk, kept[" + kept + "], reduced[" +
           reduced + "], kept_stride[" + kept + "][" + walkers + "], stride[" + reduced + "][" +
           walkers + "];\n};\n";
}

std::string parameters(const ReductionVariant &variant) {
    std::string code = "O *out";
    for (int k = 0; k < walker_count(variant); ++k)
        code += ", const " + walker_type(variant, k) + " *" + walker_name(variant, k);
    return code + ", Geometry g";
}

/// Moves each pointer to the first element of output m.
std::string find_output(const ReductionVariant &variant) {
    std::string code = "    Index rest = m;\n";
    for (int k = 0; k < walker_count(variant); ++k)
        code += "    const char *base" + std::to_string(k) + " = reinterpret_cast<const char *>(" +
                walker_name(variant, k) + ");\n";
    if (variant.kept == 0)
        return code;
    code += "#pragma unroll\n    for (int axis = " + std::to_string(variant.kept - 1) +
            "; axis >= 0; --axis) {\n        const Index whole = axis == 0 ? 0 : rest / "
            "g.kept[axis];\n        const Index at = rest - whole * g.kept[axis];\n";
    const bool known = variant.dense && variant.team == Team::Columns; // one axis is kept
    for (int k = 0; k < walker_count(variant); ++k) {
        const std::string index = std::to_string(k);
        code += "        base" + index + " += at * " +
                (known ? "Index(sizeof(" + walker_type(variant, k) + "))"
                       : "g.kept_stride[axis][" + index + "]") +
                ";\n";
    }
    return code + "        rest = whole;\n    }\n";
}

/// element(r): the state of the reduction's element r.
std::string element_code(const ReductionVariant &variant) {
    std::string code = "    auto element = [&](Index r) {\n";
    std::string arguments;
    for (int k = 0; k < walker_count(variant); ++k) {
        const std::string index = std::to_string(k);
        code += "        const char *at" + index + " = base" + index + ";\n";
        arguments +=
            "*reinterpret_cast<const " + walker_type(variant, k) + " *>(at" + index + "), ";
    }
    const bool dense = variant.dense && variant.team != Team::Columns;
    const bool rows = dense && variant.reduced > 1; // the team's elements are in the same one
    if (dense && !rows) {
        for (int k = 0; k < walker_count(variant); ++k)
            code += "        at" + std::to_string(k) + " += r * Index(sizeof(" +
                    walker_type(variant, k) + "));\n";
    } else if (variant.reduced == 1) {
        for (int k = 0; k < walker_count(variant); ++k)
            code += "        at" + std::to_string(k) + " += r * g.stride[0][" + std::to_string(k) +
                    "];\n";
    } else {
        code +=
            "        Index left = r" + std::string(rows ? " - lane" : "") +
            ";\n#pragma unroll\n        for (int axis = " + std::to_string(variant.reduced - 1) +
            "; axis >= 0; --axis) {\n            const Index whole = axis == 0 ? 0 : left / "
            "g.reduced[axis];\n            const Index step = left - whole * g.reduced[axis];\n";
        for (int k = 0; k < walker_count(variant); ++k)
            code += "            at" + std::to_string(k) + " += step * g.stride[axis][" +
                    std::to_string(k) + "];\n";
        code += "            left = whole;\n        }\n";
        for (int k = 0; rows && k < walker_count(variant); ++k)
            code += "        at" + std::to_string(k) + " += lane * Index(sizeof(" +
                    walker_type(variant, k) + "));\n";
    }
    return code + "        return " +
           (is_grouped(variant) ? "S{centred(*reinterpret_cast<const I0 *>(at0)), R(0), R(1)}"
                                : "map(" + arguments + "r)") +
           ";\n    };\n";
}

/// centred(): an element less the output's first one.
std::string centred_code() {
    return "    T origin = T(0);\n    if (m < g.outputs)\n"
           "        origin = map(*reinterpret_cast<const I0 *>(base0), 0).mean;\n"
           "    auto centred = [&](I0 x) { return T(map(x, 0).mean - origin); };\n";
}

/// The team's state, in its first thread's `total`.
std::string join_team(const ReductionVariant &variant) {
    // Moments take so long to join that this pays where it is done once for many elements only.
    const bool in_loops =
        is_index(variant) || (is_of_moments(variant) && (variant.partials || variant.split));
    const std::string unroll =
        variant.rolled && in_loops ? "#pragma unroll 1\n" : "#pragma unroll\n";
    std::string code;
    if (variant.team != Team::Warp) // halves down to a warp, of columns to one of a block's eight
        code +=
            "    __shared__ array_states<S>::Unit memory[256 * sizeof(S) / "
            "sizeof(array_states<S>::Unit)];\n"
            "    const array_states<S> shared{memory};\n"
            "    shared.put(threadIdx.x, total);\n" +
            unroll +
            "    for (int half = team_size / 2; half * distance >= 32; half /= 2) {\n"
            "        __syncthreads();\n"
            "        if (lane < half)\n"
            "            shared.put(threadIdx.x,\n"
            "                       combine(shared.get(threadIdx.x, total),\n"
            "                               shared.get(threadIdx.x + half * distance, total)));\n"
            "    }\n";
    if (variant.team == Team::Columns)
        return code +
               "    if (lane > 0)\n        return;\n    total = shared.get(threadIdx.x, total);\n";
    if (variant.team == Team::Block)
        code += "    if (threadIdx.x >= 32)\n        return;\n    total = shared.get(threadIdx.x, "
                "total);\n";
    return code + unroll +
           "    for (int half = 16; half > 0; half /= 2)\n"
           "        total = combine(total, array_from_above(total, half));\n";
}

/// Who is in the team, and which output it has.
std::string team_code(const ReductionVariant &variant) {
    switch (variant.team) {
    case Team::Block:
        return "    const int team_size = 256, lane = threadIdx.x, distance = 1;\n"
               "    const Index m = blockIdx.x;\n";
    case Team::Warp:
        return "    const int team_size = 32, lane = threadIdx.x & 31, distance = 1;\n"
               "    const Index m = Index(blockIdx.x) * 8 + (threadIdx.x >> 5);\n";
    case Team::Columns:
        break;
    }
    return "    const int team_size = 8, lane = threadIdx.x >> 5, distance = 32;\n"
           "    const Index m = Index(blockIdx.x) * 32 + (threadIdx.x & 31);\n";
}

std::vector<ScalarType> types_of(const ReductionVariant &variant) {
    return {variant.type, variant.out, variant.stored[0],
            variant.stored[variant.inputs() == 2 ? 1 : 0]};
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
    KernelKey key = 2; // a reduction
    auto add = [&](std::uint64_t value, int bits) { key = key << bits | value; };
    add(static_cast<std::uint64_t>(reduction), 6);
    add(static_cast<std::uint64_t>(stored[0]), 4);
    add(inputs() == 2 ? static_cast<std::uint64_t>(stored[1]) : 0, 4);
    add(static_cast<std::uint64_t>(type), 4);
    add(static_cast<std::uint64_t>(out), 4);
    add(masked, 1);
    add(static_cast<std::uint64_t>(team), 2);
    add(vectors, 1);
    add(dense, 1);
    add(words, 1);
    add(split, 1);
    add(partials, 1);
    add(wide_index, 1);
    add(rolled, 1);
    add(static_cast<std::uint64_t>(kept), 6);
    add(static_cast<std::uint64_t>(reduced), 6);
    return key;
}

bool is_of_bytes(const ReductionVariant &variant) noexcept {
    if (variant.masked || item_size(variant.stored[0]) != 1)
        return false;
    switch (variant.reduction) {
    case Reduction::Any:
    case Reduction::All:
    case Reduction::CountNonzero:
        return true;
    case Reduction::Sum: // exact: a chunk's sum has fewer bits than a double's mantissa
        return variant.type == ScalarType::Int64 || variant.type == ScalarType::UInt64 ||
               variant.type == ScalarType::Float64;
    default:
        return false;
    }
}

bool takes_own_states(const ReductionVariant &variant) {
    switch (variant.reduction) {
    case Reduction::Sum:
    case Reduction::Prod:
    case Reduction::Min:
    case Reduction::Max:
    case Reduction::Any:
    case Reduction::All:
        break;
    default: // a state is not an element, or what is done to an element may not be done to it
        return false;
    }
    return !variant.masked && variant.stored[0] == variant.type && variant.type == variant.out &&
           state_type(variant) == cuda_name(variant.out);
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

int team_size(Team team) noexcept {
    return team == Team::Block ? 256 : team == Team::Warp ? 32 : 8;
}

std::string reduction_source(const ReductionVariant &variant) {
    const std::vector<ScalarType> types = types_of(variant);
    std::string code = std::string(limits) + exchanges;
    if (is_index(variant))
        code += variant.rolled && !is_complex(variant.type) ? rolled_order : order;
    if (std::ranges::any_of(types, is_complex))
        code += complex_limits;
    if (variant.words)
        code += words_code;
    code += types_code(variant) + state_code(variant) + geometry(variant);
    code += "extern \"C\" __global__ void __launch_bounds__(256) run(" + parameters(variant) +
            ") {\n" + team_code(variant) + find_output(variant) +
            (is_grouped(variant) ? centred_code() : "") + element_code(variant) +
            "    Index begin = Index(blockIdx.y) * g.chunk;\n"
            "    Index end = m < g.outputs ? begin + g.chunk : begin;\n"
            "    if (end > g.length)\n        end = m < g.outputs ? g.length : begin;\n" +
            thread_loop(variant) + join_team(variant) +
            "    if (lane == 0 && m < g.outputs)\n"
            "        out[m * gridDim.y + blockIdx.y] = finish(total);\n}\n";
    return device_prelude(types, code) + code;
}

} // namespace pycuda
