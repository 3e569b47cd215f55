// elementwise_harness.h -- compares an operation in generated code with a reference on many values.
#pragma once

#include "ir/attributes.h"

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

/// Bits of values, lowest first.
using Bits = std::uint64_t;
using Inputs = std::span<const Bits>;

/// One variant of one operation.
struct Case {
    Opcode opcode;
    Attributes attributes;
    std::vector<Type> operands;
    std::vector<Type> results;
    /// The operation's reference: operands of one thread in, results out.
    std::function<void(Inputs, Bits *)> reference;
    /// The kind of each operand, which selects hard values; by default the operand's class.
    std::vector<Scalar> kinds = {};
    /// Operands that are constants in the code.
    std::map<unsigned, Bits> constants = {};
    /// The operand that is a splat of one value in each vector, or -1.
    int uniform = -1;
    /// Compares a result that need not be exact. In F32 and F64, all NaNs are equal in any case.
    std::function<bool(Inputs, Bits got, Bits wanted)> accept = {};
};

/// Runs all cases as scalars and as vectors of 2, 16 and 32 lanes with every instruction set of
/// this machine, with all combinations of hard values, and with random values. Reports differences.
void run(const std::vector<Case> &cases);

/// Hard values and others, by format.
std::vector<Bits> hard_values(Scalar kind);
Bits random_value(Scalar kind);

// Conversions between bits and values.
float as_float(Bits bits);
double as_double(Bits bits);
Bits bits_of(float value);
Bits bits_of(double value);
bool is_nan(Bits bits, Scalar format);

/// A real number rounded to a format of up to 16 bits: exact for every double. `mode` is that of
/// <cfenv>.
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
