// small_float_calls.cpp -- what LLVM calls for single halves where the processor has no
// instruction.
//
// Generated code converts halves a vector at a time; an atomic does it for one.

#include "jit/small_float_calls.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace softcuda::jit {

namespace {

/// Passed and returned as the processor's ABI has it for 16-bit floats; a bfloat16's bits, too.
__extension__ using Half = _Float16;

float from_half(Half value) { return static_cast<float>(value); }
Half to_half(float value) { return static_cast<Half>(value); }

Half to_bfloat(float value) {
    auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value))
        bits |= 0x400000; // keeps it one
    else
        bits += 0x7fff + (bits >> 16 & 1);
    return std::bit_cast<Half>(static_cast<std::uint16_t>(bits >> 16));
}

float least(float a, float b) { return std::fmin(a, b); }
float largest(float a, float b) { return std::fmax(a, b); }

template <class Function> void *address(Function *function) {
    return reinterpret_cast<void *>(function);
}

} // namespace

std::span<const RuntimeFunction> small_float_calls() {
    static const RuntimeFunction calls[] = {
        {"__extendhfsf2", address(from_half)}, {"__truncsfhf2", address(to_half)},
        {"__truncsfbf2", address(to_bfloat)},  {"fminf", address(least)},
        {"fmaxf", address(largest)},
    };
    return calls;
}

} // namespace softcuda::jit
