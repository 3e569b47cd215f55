// lower_integer.cpp -- integer arithmetic, with and without the carry flag.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

Scalar twice(Scalar type) {
    switch (type) {
    case Scalar::U16:
        return Scalar::U32;
    case Scalar::S16:
        return Scalar::S32;
    case Scalar::U32:
        return Scalar::U64;
    case Scalar::S32:
        return Scalar::S64;
    default:
        return Scalar::None;
    }
}

Scalar unsigned_of(Scalar type) {
    return bits(type) == 64 ? Scalar::U64 : bits(type) == 16 ? Scalar::U16 : Scalar::U32;
}

Value *product(FunctionLowering &f, const ptx::Instruction &i, Scalar type) {
    Value *a = f.read(i.operand(1), type), *b = f.read(i.operand(2), type);
    switch (i.modifiers.part) {
    case ptx::Part::Hi:
        return f.emit(Opcode::MulHigh, type, {a, b});
    case ptx::Part::Wide:
        return f.emit(Opcode::MulWide, type, {a, b});
    default:
        return f.emit(Opcode::Mul, type, {a, b});
    }
}

void multiply(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    bool wide = i.modifiers.part == ptx::Part::Wide;
    f.write(i.operand(0), product(f, i, type), wide ? twice(type) : type);
}

/// mad.lo, .hi and .wide: the product, then a sum of its width.
void multiply_add(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = attributes(i);
    Value *first = product(f, i, a.type);
    if (i.modifiers.part == ptx::Part::Wide)
        a.type = twice(a.type);
    f.write(i.operand(0), f.emit(Opcode::Add, a, {first, f.read(i.operand(3), a.type)}), a.type);
}

void multiply_24(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = attributes(i);
    bool saturate = a.saturate;
    a.saturate = false;
    a.high = i.modifiers.part == ptx::Part::Hi;
    Value *value =
        f.emit(Opcode::Mul24, a, {f.read(i.operand(1), a.type), f.read(i.operand(2), a.type)});
    if (i.opcode == ptx::Opcode::Mad24) {
        Attributes sum;
        sum.type = a.type;
        sum.saturate = saturate;
        value = f.emit(Opcode::Add, sum, {value, f.read(i.operand(3), a.type)});
    }
    f.write(i.operand(0), value, a.type);
}

Opcode plain_opcode(ptx::Opcode opcode) {
    switch (opcode) {
    case ptx::Opcode::Add:
        return Opcode::Add;
    case ptx::Opcode::Sub:
        return Opcode::Sub;
    case ptx::Opcode::Div:
        return Opcode::Div;
    case ptx::Opcode::Rem:
        return Opcode::Rem;
    case ptx::Opcode::Min:
        return Opcode::Min;
    case ptx::Opcode::Max:
        return Opcode::Max;
    case ptx::Opcode::Abs:
        return Opcode::Abs;
    case ptx::Opcode::Neg:
        return Opcode::Neg;
    default:
        return Opcode::Sad;
    }
}

void plain(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = attributes(i);
    std::vector<Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(f.read(i.operand(n), a.type));
    f.write(i.operand(0), f.builder().append(plain_opcode(i.opcode), a, operands)->result(),
            a.type);
}

} // namespace

void lower_arithmetic(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    if (type == Scalar::None)
        f.unsupported(i);
    else if (is_floating(type))
        lower_float(f, i);
    else if (i.modifiers.carry_out)
        lower_carry(f, i);
    else
        lower_integer(f, i);
}

void lower_integer(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Mul:
        return multiply(f, i);
    case ptx::Opcode::Mad:
        return multiply_add(f, i);
    case ptx::Opcode::Mul24:
    case ptx::Opcode::Mad24:
        return multiply_24(f, i);
    default:
        return plain(f, i);
    }
}

/// The carry flag is a variable like others: add.cc and its like set it, addc and its like use it.
///
/// A subtraction is a + ~b + 1, so it carries if it does not borrow, and subc subtracts 1 more
/// if the flag is clear. (The manual calls the flag the borrow; but the compiler's own division
/// of 128-bit numbers reads it with addc after subc.cc, which shows the difference.)
void lower_carry(FunctionLowering &f, const ptx::Instruction &i) {
    using ptx::Opcode;
    Scalar type = scalar(i.modifiers.type());
    bool uses = i.opcode == Opcode::Addc || i.opcode == Opcode::Subc || i.opcode == Opcode::Madc;
    bool subtracts = i.opcode == Opcode::Sub || i.opcode == Opcode::Subc;
    bool multiplies = i.opcode == Opcode::Mad || i.opcode == Opcode::Madc;
    Value *a = multiplies ? product(f, i, type) : f.read(i.operand(1), type);
    Value *b = f.read(i.operand(multiplies ? 3 : 2), type);
    Value *carry = uses ? f.carry() : f.constant(Type::I1, 0);
    if (uses && subtracts)
        carry = f.builder().logical_not(carry);
    Attributes words;
    words.type = unsigned_of(type);
    Instruction *sum = f.builder().append(subtracts ? ir::Opcode::SubBorrow : ir::Opcode::AddCarry,
                                          words, {a, b, carry});
    f.write(i.operand(0), sum->result(0), type);
    if (i.modifiers.carry_out)
        f.set_carry(subtracts ? f.builder().logical_not(sum->result(1)) : sum->result(1));
}

} // namespace softcuda::ir
