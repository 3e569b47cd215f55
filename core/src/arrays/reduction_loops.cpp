// reduction_loops.cpp -- what one thread of a reduction kernel does.
#include "arrays/reduction_loops.h"

#include <algorithm>
#include <string>

namespace pycuda {
namespace {

constexpr int vectors_per_step = 4; ///< accesses that a thread has under way

/// Neighbouring columns are read by 4 bytes or so at a time: more of them must be under way.
int elements_per_turn(const ReductionVariant &variant) noexcept {
    return variant.team == Team::Columns ? 8 : 4;
}

/// What is found of a thread's elements side by side; where they are joined as groups, one.
int states_per_thread(const ReductionVariant &variant) noexcept {
    return reduction_row(variant.reduction).rule == ReductionRule::Moments
               ? 1
               : elements_per_turn(variant);
}

std::string pack_type(const ReductionVariant &variant, int walker) {
    return "Pack<" + walker_type(variant, walker) + ", " +
           std::to_string(reduction_vector_length(variant)) + ">";
}

/// Joins the elements of packs called v0 + `of` and v1 + `of`, the first with number `place`.
std::string append_packs(const ReductionVariant &variant, const std::string &of,
                         const std::string &place) {
    const std::string states = std::to_string(states_per_thread(variant));
    std::string arguments;
    for (int k = 0; k < walker_count(variant); ++k)
        arguments += "v" + std::to_string(k) + of + ".v[k], ";
    return "#pragma unroll\n            for (int k = 0; k < " +
           std::to_string(reduction_vector_length(variant)) + "; ++k)\n                state[k % " +
           states + "] = append(state[k % " + states + "], map(" + arguments + place + " + k));\n";
}

std::string vector_loop(const ReductionVariant &variant) {
    const std::string length = std::to_string(reduction_vector_length(variant));
    const std::string steps = std::to_string(vectors_per_step);
    std::string declare, load;
    for (int k = 0; k < walker_count(variant); ++k) {
        const std::string index = std::to_string(k), pack = pack_type(variant, k);
        declare += "            " + pack + " v" + index + "[" + steps + "];\n";
        load += "                v" + index + "[u] = reinterpret_cast<const " + pack + " *>(base" +
                index + ")[r / " + length + " + u * team_size];\n";
    }
    return "    {\n        Index r = begin + lane * " + length +
           ";\n        const Index stride = " + steps + " * " + length +
           " * team_size;\n        for (; r + stride - lane * " + length +
           " <= end; r += stride) {\n" + declare +
           "#pragma unroll\n            for (int u = 0; u < " + steps + "; ++u) {\n" + load +
           "            }\n#pragma unroll\n            for (int u = 0; u < " + steps + "; ++u)\n" +
           append_packs(variant, "[u]", "r + u * " + length + " * team_size") +
           "        }\n        begin = r - lane * " + length + ";\n    }\n";
}

/// As vector_loop(), with one access in the loop. It ends where that one does, before what is not
/// enough for a step of several.
std::string rolled_vector_loop(const ReductionVariant &variant) {
    const std::string length = std::to_string(reduction_vector_length(variant));
    std::string load;
    for (int k = 0; k < walker_count(variant); ++k) {
        const std::string index = std::to_string(k), pack = pack_type(variant, k);
        load += "            const " + pack + " v" + index + " = reinterpret_cast<const " + pack +
                " *>(base" + index + ")[at];\n";
    }
    return "    {\n        const Index step = " + std::to_string(vectors_per_step) + " * " +
           length +
           " * team_size;\n        const Index stop = begin + (end - begin) / step * step;\n"
           "#pragma unroll 1\n        for (Index at = begin / " +
           length + " + lane; at < stop / " + length + "; at += team_size) {\n" + load +
           append_packs(variant, "", "at * " + length) +
           "        }\n        begin = stop;\n    }\n";
}

/// One by one up to a word's beginning, then words.
std::string words_loop(const ReductionVariant &variant) {
    const bool test = reduction_row(variant.reduction).rule == ReductionRule::Test;
    const bool sum = variant.reduction == Reduction::Sum;
    const bool is_signed = sum && variant.stored[0] == ScalarType::Int8;
    const std::string read = !sum || is_bool(variant.stored[0]) ? "array_nonzero_bytes(words[at])"
                             : is_signed                        ? "words[at] ^ 0x80 * every_byte"
                                                                : "words[at]";
    std::string step, joined;
    if (test) {
        const bool any = variant.reduction == Reduction::Any;
        step = any ? "                even |= x;\n" : "                odd |= x ^ every_byte;\n";
        joined = any ? "S(even != 0)" : "S(odd == 0)";
    } else {
        step = "                even += x & even_bytes;\n                odd += x >> 8 & "
               "even_bytes;\n";
        joined =
            "S(array_sum_of_16(even) + array_sum_of_16(odd)" +
            std::string(is_signed ? " - 1024 * ((to - from + team_size - 1) / team_size)" : "") +
            ")";
    }
    return "    {\n"
           "        Index first = begin + Index(-reinterpret_cast<long long>(base0 + begin) & 7);\n"
           "        if (first > end)\n            first = end;\n"
           "        if (lane < first - begin)\n"
           "            state[0] = append(state[0], element(begin + lane));\n"
           "        const Index count = (end - first) / 8;\n"
           "        const Word *words = reinterpret_cast<const Word *>(base0 + first);\n"
           "#pragma unroll 1\n"
           "        for (Index from = lane; from < count; from += 255 * team_size) {\n"
           "            const Index to = min(count, from + 255 * team_size);\n"
           "            Word even = 0, odd = 0;\n#pragma unroll 1\n"
           "            for (Index at = from; at < to; at += team_size) {\n"
           "                const Word x = " +
           read + ";\n" + step + "            }\n            state[0] = append(state[0], " +
           joined + ");\n        }\n        begin = first + count * 8;\n    }\n";
}

/// Elements one by one: into each of the states in turn while there are enough, then into the
/// first.
std::string element_loop(const ReductionVariant &variant) {
    const std::string states = std::to_string(states_per_thread(variant));
    return "    Index r = begin + lane;\n    for (; r + " +
           std::to_string(states_per_thread(variant) - 1) + " * team_size < end; r += " + states +
           " * team_size) {\n#pragma unroll\n        for (int u = 0; u < " + states +
           "; ++u)\n            state[u] = append(state[u], element(r + u * team_size));\n    }\n"
           "#pragma unroll 1\n    for (; r < end; r += team_size)\n"
           "        state[0] = append(state[0], element(r));\n";
}

/// As element_loop(), with the code for an element standing once: the states move on after each,
/// so that it always takes the first.
std::string rolled_element_loop(const ReductionVariant &variant) {
    const std::string states = std::to_string(states_per_thread(variant));
    return "    Index r = begin + lane;\n    const Index own = r < end ? (end - r + team_size - 1) "
           "/ "
           "team_size : 0;\n    const Index turns = r + own / " +
           states + " * " + states +
           " * team_size;\n#pragma unroll 1\n    for (; r < end; r += team_size) {\n"
           "        const S next = append(state[0], element(r));\n        if (r < turns) {\n"
           "#pragma unroll\n            for (int u = 0; u + 1 < " +
           states + "; ++u)\n                state[u] = state[u + 1];\n            state[" +
           states +
           " - 1] = next;\n        } else {\n            state[0] = next;\n        }\n    }\n";
}

// Of groups: up to 16 elements in `packs`, or one of each access of a `turn`.

/// As vector_loop().
constexpr const char *group_vector_loop = R"__(
    {
        Index r = begin + lane * length;
        const Index stride = steps * length * team_size;
        for (; r + stride - lane * length <= end; r += stride) {
            Packed v[steps];
#pragma unroll
            for (int u = 0; u < steps; ++u)
                v[u] = reinterpret_cast<const Packed *>(base0)[r / length + u * team_size];
#pragma unroll
            for (int u = 0; u < steps; u += packs) {
                T x[packs * length];
#pragma unroll
                for (int k = 0; k < packs * length; ++k)
                    x[k] = centred(v[u + k / length].v[k % length]);
                state[0] = append(state[0], array_group(x));
            }
        }
        begin = r - lane * length;
    }
)__";

/// As rolled_vector_loop(), with array_group()'s loops around the accesses: it finds what it takes
/// for the second time in the cache.
constexpr const char *rolled_group_vector_loop = R"__(
    {
        const Packed *packed = reinterpret_cast<const Packed *>(base0);
        const Index step = steps * length * team_size;
        const Index stop = begin + (end - begin) / step * step;
#pragma unroll 1
        for (Index at = begin / length + lane; at < stop / length; at += packs * team_size) {
            auto each = [&](const auto &use) {
#pragma unroll 1
                for (int u = 0; u < packs; ++u) {
                    const Packed v = packed[at + u * team_size];
#pragma unroll
                    for (int k = 0; k < length; ++k)
                        use(centred(v.v[k]));
                }
            };
            T sum = T(0);
            each([&](T x) { sum = sum + x; });
            const T mean = array_part(sum, R(1) / (packs * length));
            R squares = R(0);
            each([&](T x) { squares = squares + array_square_of(T(x - mean)); });
            state[0] = append(state[0], S{mean, squares, R(packs * length)});
        }
        begin = stop;
    }
)__";

/// As element_loop().
constexpr const char *group_element_loop = R"__(
    Index r = begin + lane;
    for (; r + (turn - 1) * team_size < end; r += turn * team_size) {
        T x[turn];
#pragma unroll
        for (int u = 0; u < turn; ++u)
            x[u] = element(r + u * team_size).mean;
        state[0] = append(state[0], array_group(x));
    }
#pragma unroll 1
    for (; r < end; r += team_size)
        state[0] = append(state[0], element(r));
)__";

/// The same with the code for an element standing once: elements wait until they are a group.
constexpr const char *rolled_group_element_loop = R"__(
    Index r = begin + lane;
    const Index own = r < end ? (end - r + team_size - 1) / team_size : 0;
    const Index turns = r + own / turn * turn * team_size;
    int waiting = 0;
    T x[turn];
#pragma unroll
    for (int u = 0; u < turn; ++u)
        x[u] = T(0);
#pragma unroll 1
    for (; r < end; r += team_size) {
        S next = element(r);
        if (r < turns) {
#pragma unroll
            for (int u = 0; u + 1 < turn; ++u)
                x[u] = x[u + 1];
            x[turn - 1] = next.mean;
            waiting = (waiting + 1) % turn;
            if (waiting > 0)
                continue;
            next = array_group(x);
        }
        state[0] = append(state[0], next);
    }
)__";

std::string group_loops(const ReductionVariant &variant, bool rolled) {
    const int length = reduction_vector_length(variant);
    const int packs = std::clamp(16 / length, 1, vectors_per_step);
    std::string code = "    constexpr int turn = " + std::to_string(elements_per_turn(variant)) +
                       ", length = " + std::to_string(length) +
                       ", packs = " + std::to_string(packs) +
                       ", steps = " + std::to_string(vectors_per_step) +
                       ";\n    typedef Pack<I0, length> Packed;\n";
    if (variant.vectors)
        code += rolled ? rolled_group_vector_loop : group_vector_loop;
    return code + (rolled ? rolled_group_element_loop : group_element_loop);
}

std::string single_loops(const ReductionVariant &variant, bool rolled) {
    if (states_per_thread(variant) == 1)
        return "#pragma unroll 1\n    for (Index r = begin + lane; r < end; r += team_size)\n"
               "        state[0] = append(state[0], element(r));\n";
    std::string code;
    if (variant.words)
        code = words_loop(variant);
    else if (variant.vectors)
        code = rolled ? rolled_vector_loop(variant) : vector_loop(variant);
    return code + (rolled ? rolled_element_loop(variant) : element_loop(variant));
}

} // namespace

std::string walker_type(const ReductionVariant &variant, int walker) {
    return !variant.partials && walker == variant.inputs() ? "bool" : "I" + std::to_string(walker);
}

std::string walker_name(const ReductionVariant &variant, int walker) {
    return !variant.partials && walker == variant.inputs() ? "mask" : "p" + std::to_string(walker);
}

int walker_count(const ReductionVariant &variant) {
    return variant.partials ? 1 : variant.walkers();
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

bool is_grouped(const ReductionVariant &variant) noexcept {
    return reduction_row(variant.reduction).rule == ReductionRule::Moments && !variant.masked &&
           !variant.partials;
}

std::string thread_loop(const ReductionVariant &variant) {
    const std::string states = std::to_string(states_per_thread(variant));
    const bool rolled = variant.rolled && (variant.vectors || variant.words || variant.partials);
    return "    S state[" + states + "];\n#pragma unroll\n    for (int u = 0; u < " + states +
           "; ++u)\n        state[u] = identity();\n" +
           (is_grouped(variant) ? group_loops(variant, rolled) : single_loops(variant, rolled)) +
           "#pragma unroll\n    for (int half = " + states +
           " / 2; half > 0; half /= 2)\n#pragma unroll\n        for (int u = 0; u < half; ++u)\n"
           "            state[u] = combine(state[u], state[u + half]);\n"
           "    S total = state[0];\n";
}

} // namespace pycuda
