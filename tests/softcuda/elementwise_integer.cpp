// elementwise_integer.cpp -- reference results of integer arithmetic, one thread at a time.
#include "elementwise_cases.h"

#include <algorithm>

namespace test {

namespace {

using Wide = __int128;

Type class_of(unsigned bits) {
    return bits == 8 ? Type::I8 : bits == 16 ? Type::I16 : bits == 32 ? Type::I32 : Type::I64;
}

Bits mask_of(unsigned bits) { return ~Bits{0} >> (64 - bits); }

/// The value of an operand.
Wide number(Bits bits, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    const Wide value = static_cast<Wide>(bits & mask_of(width));
    const bool negative = softcuda::ir::is_signed(type) && (bits >> (width - 1) & 1);
    return negative ? value - (Wide{1} << width) : value;
}

struct Integers {
    std::vector<Case> cases;

    /// An operation whose result is a number, truncated to the type's width.
    Case &add(Opcode opcode, Scalar type, unsigned operands,
              std::function<Wide(std::span<const Wide>)> compute) {
        const unsigned width = softcuda::ir::bits(type);
        Case c{opcode, {}, std::vector<Type>(operands, class_of(width)), {class_of(width)}, {}};
        c.attributes.type = type;
        c.reference = [=](Inputs in, Bits *out) {
            std::vector<Wide> numbers;
            for (const Bits bits : in)
                numbers.push_back(number(bits, type));
            out[0] = static_cast<Bits>(compute(numbers)) & mask_of(width);
        };
        cases.push_back(std::move(c));
        return cases.back();
    }
};

Wide clamp(Wide value, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    const bool is_signed = softcuda::ir::is_signed(type);
    const Wide high = (Wide{1} << (is_signed ? width - 1 : width)) - 1;
    return std::clamp(value, is_signed ? -high - 1 : Wide{0}, high);
}

// Division by zero gives an H200's result, for all widths.
Wide quotient(Wide a, Wide b) { return b == 0 ? -1 : a / b; }
Wide remainder(Wide a, Wide b) { return b == 0 ? -1 : a % b; }

void add_arithmetic(Integers &t, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    t.add(Opcode::Add, type, 2, [](auto x) { return x[0] + x[1]; });
    t.add(Opcode::Sub, type, 2, [](auto x) { return x[0] - x[1]; });
    t.add(Opcode::Mul, type, 2, [](auto x) {
        return static_cast<Wide>(static_cast<unsigned __int128>(x[0]) *
                                 static_cast<unsigned __int128>(x[1]));
    });
    t.add(Opcode::MulHigh, type, 2, [=](auto x) {
        return static_cast<Wide>(static_cast<unsigned __int128>(x[0]) *
                                 static_cast<unsigned __int128>(x[1])) >>
               width;
    });
    t.add(Opcode::Min, type, 2, [](auto x) { return std::min(x[0], x[1]); });
    t.add(Opcode::Max, type, 2, [](auto x) { return std::max(x[0], x[1]); });
    t.add(Opcode::Sad, type, 3,
          [](auto x) { return x[2] + (x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]); });
    t.add(Opcode::Neg, type, 1, [](auto x) { return -x[0]; });
    if (softcuda::ir::is_signed(type))
        t.add(Opcode::Abs, type, 1, [](auto x) { return x[0] < 0 ? -x[0] : x[0]; });
}

void add_division(Integers &t, Scalar type) {
    const auto add = [&](Opcode opcode) -> Case & {
        return t.add(opcode, type, 2, [=](auto x) {
            return opcode == Opcode::Div ? quotient(x[0], x[1]) : remainder(x[0], x[1]);
        });
    };
    for (const Opcode opcode : {Opcode::Div, Opcode::Rem}) {
        add(opcode);
        add(opcode).uniform = 1;
        for (const Bits divisor : {Bits{0}, Bits{1}, Bits{10}, Bits{64}, ~Bits{0}})
            add(opcode).constants[1] = divisor & mask_of(softcuda::ir::bits(type));
    }
}

void add_wide(Integers &t, Scalar type) {
    const unsigned width = softcuda::ir::bits(type);
    Case c{Opcode::MulWide, {}, {class_of(width), class_of(width)}, {class_of(2 * width)}, {}};
    c.attributes.type = type;
    c.reference = [=](Inputs in, Bits *out) {
        out[0] = static_cast<Bits>(number(in[0], type) * number(in[1], type)) & mask_of(2 * width);
    };
    t.cases.push_back(c);
}

void add_carry(Integers &t, unsigned width) {
    for (const Opcode opcode : {Opcode::AddCarry, Opcode::SubBorrow}) {
        const Type type = class_of(width);
        Case c{opcode, {}, {type, type, Type::I1}, {type, Type::I1}, {}};
        c.attributes.type = width == 32 ? Scalar::U32 : Scalar::U64;
        c.reference = [=](Inputs in, Bits *out) {
            const Wide a = static_cast<Wide>(in[0] & mask_of(width));
            const Wide b = static_cast<Wide>(in[1] & mask_of(width)) + static_cast<Wide>(in[2]);
            const Wide result = opcode == Opcode::AddCarry ? a + b : a - b;
            out[0] = static_cast<Bits>(result) & mask_of(width);
            out[1] = static_cast<Bits>(result >> width) & 1;
        };
        t.cases.push_back(c);
    }
}

void add_saturating(Integers &t) {
    t.add(Opcode::Add, Scalar::S32, 2, [](auto x) {
         return clamp(x[0] + x[1], Scalar::S32);
     }).attributes.saturate = true;
    t.add(Opcode::Sub, Scalar::S32, 2, [](auto x) {
         return clamp(x[0] - x[1], Scalar::S32);
     }).attributes.saturate = true;
    t.add(Opcode::Max, Scalar::S32, 2, [](auto x) {
         return std::max({x[0], x[1], Wide{0}});
     }).attributes.relu = true;
}

void add_products_of_24(Integers &t, Scalar type, bool high) {
    const auto cut = [=](Wide x) {
        const Wide low = x & 0xffffff;
        return softcuda::ir::is_signed(type) && (low >> 23 & 1) ? low - 0x1000000 : low;
    };
    t.add(Opcode::Mul24, type, 2, [=](auto x) {
         return cut(x[0]) * cut(x[1]) >> (high ? 16 : 0);
     }).attributes.high = high;
}

void add_dot_products(Integers &t, Scalar a_type, Scalar b_type) {
    const auto part = [](Wide x, unsigned i, unsigned bits, Scalar type) {
        const Bits cut = static_cast<Bits>(x) >> (i * bits) & mask_of(bits);
        return softcuda::ir::is_signed(type) && (cut >> (bits - 1) & 1)
                   ? static_cast<Wide>(cut) - (Wide{1} << bits)
                   : static_cast<Wide>(cut);
    };
    t.add(Opcode::Dp4a, a_type, 3, [=](auto x) {
         Wide sum = x[2];
         for (unsigned i = 0; i < 4; ++i)
             sum += part(x[0], i, 8, a_type) * part(x[1], i, 8, b_type);
         return sum;
     }).attributes.source_type = b_type;
    for (const bool high : {false, true}) {
        Case &c = t.add(Opcode::Dp2a, a_type, 3, [=](auto x) {
            Wide sum = x[2];
            for (unsigned i = 0; i < 2; ++i)
                sum += part(x[0], i, 16, a_type) * part(x[1], i + (high ? 2 : 0), 8, b_type);
            return sum;
        });
        c.attributes.source_type = b_type;
        c.attributes.high = high;
    }
}

/// u16x2 and s16x2: the operation on each half.
void add_packed(Integers &t, Scalar packed, Scalar element) {
    for (const Opcode opcode : {Opcode::Add, Opcode::Min, Opcode::Max}) {
        Case c{opcode, {}, {Type::I32, Type::I32}, {Type::I32}, {}};
        c.attributes.type = packed;
        c.reference = [=](Inputs in, Bits *out) {
            for (unsigned shift : {0u, 16u}) {
                const Wide a = number(in[0] >> shift, element), b = number(in[1] >> shift, element);
                const Wide result = opcode == Opcode::Add   ? a + b
                                    : opcode == Opcode::Min ? std::min(a, b)
                                                            : std::max(a, b);
                out[0] |= (static_cast<Bits>(result) & 0xffff) << shift;
            }
        };
        t.cases.push_back(c);
    }
}

} // namespace

std::vector<Case> integer_cases() {
    Integers t;
    for (const Scalar type :
         {Scalar::U16, Scalar::S16, Scalar::U32, Scalar::S32, Scalar::U64, Scalar::S64}) {
        add_arithmetic(t, type);
        add_division(t, type);
    }
    for (const Scalar type : {Scalar::U16, Scalar::S16, Scalar::U32, Scalar::S32})
        add_wide(t, type);
    add_carry(t, 32);
    add_carry(t, 64);
    add_saturating(t);
    for (const Scalar type : {Scalar::U32, Scalar::S32})
        for (const bool high : {false, true})
            add_products_of_24(t, type, high);
    for (const Scalar a : {Scalar::U32, Scalar::S32})
        for (const Scalar b : {Scalar::U32, Scalar::S32})
            add_dot_products(t, a, b);
    add_packed(t, Scalar::U16x2, Scalar::U16);
    add_packed(t, Scalar::S16x2, Scalar::S16);
    return t.cases;
}

} // namespace test
