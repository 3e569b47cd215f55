// vector_facts.h -- what the vector unit of a processor can do, for decisions of code generation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace softcuda::target {

/// What the processor can do under a mask.
enum class Masks : std::uint8_t {
    None,  ///< nothing: a branch for each lane, or a blend
    Words, ///< loads and stores of 32 and 64 bits; stores cost as much as twelve plain ones
    All,   ///< loads, stores, gathers and scatters; a mask is a register with one bit for each lane
};

/// The facts on which generated code and its plans depend. A missing ability has another way.
struct VectorFacts {
    unsigned register_bits = 128; ///< of the widest vector register
    Masks masks = Masks::None;
    bool fast_gather = false;    ///< a gather takes less time than a load for each lane
    bool permutes_words = false; ///< any permutation of the 32-bit words of a register
    bool permutes_two = false;   ///< permute_two() of target/code/instructions.h
    bool compresses = false;     ///< compress()
    bool fuses = false;          ///< fma of floats and doubles
    bool converts_half = false;  ///< between f16 and f32
    bool computes_half = false;  ///< arithmetic of f16
    bool estimates = false;      ///< estimate_reciprocal(), estimate_root(), scale()
    bool saturates = false;      ///< conversions of floats give the nearest integer, and 0 for NaN
    bool truncates_singles = false; ///< truncate_to_word() of floats
    bool truncates_doubles = false; ///< truncate_to_word() of doubles
    bool converts_unsigned = false; ///< floats and doubles to and from unsigned 32-bit integers
    bool converts_long = false;     ///< doubles to and from 64-bit integers, and multiplies these
    bool takes_sign = false;        ///< negate_by_sign()
    bool orders_memory = false;     ///< loads acquire and stores release
    bool quiets_min_max = false;    ///< the minimum of a number and a signalling NaN is a NaN
    bool positive_nan = false;      ///< an invalid operation of doubles gives a NaN without sign

    [[nodiscard]] bool masks_all() const { return masks == Masks::All; }
};

/// `has(feature)`: whether LLVM's feature, such as "+fma", is on.
[[nodiscard]] VectorFacts facts_of(const std::function<bool(const char *)> &has);

/// A processor for which code can be compiled on this machine.
struct Level {
    std::string_view name; ///< in SOFTCUDA_ISA
    const char *cpu;       ///< LLVM's name; empty: this machine's
    const char *needs;     ///< a feature that a machine of this level has, as LLVM detects it
    const char *features;  ///< to switch on or off in addition
};

/// All levels; the first one is "native".
[[nodiscard]] std::span<const Level> levels();

} // namespace softcuda::target
