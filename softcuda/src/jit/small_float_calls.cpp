// small_float_calls.cpp -- functions that LLVM calls for single halves if the processor has no
// instruction.
//
// Generated code converts vectors of halves; only an atomic converts a single half.

#include "jit/small_float_calls.h"

#include "target/half_type.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace softcuda::jit {

namespace {

using target::Half; // also holds the bits of a bfloat16

float from_half(Half value) { return static_cast<float>(value); }
Half to_half(float value) { return static_cast<Half>(value); }

Half to_bfloat(float value) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        bits |= 0x400000; // so that it stays a NaN
    else
        bits += 0x7fff + (bits >> 16 & 1);
    return std::bit_cast<Half>(static_cast<std::uint16_t>(bits >> 16));
}

float least(float a, float b) { return std::fmin(a, b); }
float largest(float a, float b) { return std::fmax(a, b); }

} // namespace

std::span<const RuntimeFunction> small_float_calls() {
    static const RuntimeFunction calls[] = {
        {"__extendhfsf2", address_of(from_half)}, {"__truncsfhf2", address_of(to_half)},
        {"__truncsfbf2", address_of(to_bfloat)},  {"fminf", address_of(least)},
        {"fmaxf", address_of(largest)},
    };
    return calls;
}

} // namespace softcuda::jit
