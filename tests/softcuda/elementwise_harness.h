// elementwise_harness.h -- runs one operation of generated code on many values beside a reference.
#pragma once

#include "ir/ir.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace test {

using softcuda::ir::Attributes;
using softcuda::ir::Opcode;
using softcuda::ir::Scalar;
using softcuda::ir::Type;

/// Bits of values, low first.
using Bits = std::uint64_t;
using Inputs = std::span<const Bits>;

/// One form of one operation.
struct Case {
    Opcode opcode;
    Attributes attributes;
    std::vector<Type> operands;
    std::vector<Type> results;
    /// What the operation gives: one thread's operands in, results out.
    std::function<void(Inputs, Bits *)> reference;
    /// What each operand's values are like, for the choice of hard ones; by default its class.
    std::vector<Scalar> kinds = {};
    /// Operands that are this constant in the code.
    std::map<unsigned, Bits> constants = {};
    /// Operand that is a splat of one value in each vector, or -1.
    int uniform = -1;
    /// Judges a result that need not be exact; NaN of any kind equals NaN in F32 and F64 anyway.
    std::function<bool(Inputs, Bits got, Bits wanted)> accept = {};
};

/// Runs all cases as scalars and as vectors of 2, 16 and 32 lanes on every instruction set that
/// this machine has, with hard values in all combinations and random ones. Reports what differs.
void run(const std::vector<Case> &cases);

/// Hard values and the like, by format.
std::vector<Bits> hard_values(Scalar kind);
Bits random_value(Scalar kind);

// Bits to values and back.
float as_float(Bits bits);
double as_double(Bits bits);
Bits bits_of(float value);
Bits bits_of(double value);
bool is_nan(Bits bits, Scalar format);

/// A real number rounded to a format of 16 or fewer bits: exact, for any double. `mode` is
/// <cfenv>'s.
struct Format {
    int bits, exponent_bits, mantissa_bits;
    Bits nan;
    bool saturates;
};
inline constexpr Format kF16{16, 5, 10, 0x7fff, false}, kBf16{16, 8, 7, 0x7fff, false};
inline constexpr Format kFp8E4m3{8, 4, 3, 0x7f, true}, kFp8E5m2{8, 5, 2, 0x7f, true};
Bits round_to(const Format &format, double value, int mode);
double value_of(const Format &format, Bits bits);

} // namespace test
