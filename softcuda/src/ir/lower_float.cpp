// lower_float.cpp -- floating-point arithmetic, of all widths.
#include "ir/lower_families.h"

#include <array>

namespace softcuda::ir {

namespace {

Opcode opcode_of(ptx::Opcode opcode) {
    switch (opcode) {
    case ptx::Opcode::Add:
        return Opcode::Add;
    case ptx::Opcode::Sub:
        return Opcode::Sub;
    case ptx::Opcode::Mul:
        return Opcode::Mul;
    case ptx::Opcode::Mad:
    case ptx::Opcode::Fma:
        return Opcode::Fma;
    case ptx::Opcode::Div:
        return Opcode::Div;
    case ptx::Opcode::Abs:
        return Opcode::Abs;
    case ptx::Opcode::Neg:
        return Opcode::Neg;
    case ptx::Opcode::Min:
        return Opcode::Min;
    case ptx::Opcode::Max:
        return Opcode::Max;
    case ptx::Opcode::Rcp:
        return Opcode::Rcp;
    case ptx::Opcode::Sqrt:
        return Opcode::Sqrt;
    case ptx::Opcode::Rsqrt:
        return Opcode::Rsqrt;
    case ptx::Opcode::Sin:
        return Opcode::Sin;
    case ptx::Opcode::Cos:
        return Opcode::Cos;
    case ptx::Opcode::Lg2:
        return Opcode::Lg2;
    case ptx::Opcode::Ex2:
        return Opcode::Ex2;
    case ptx::Opcode::Tanh:
        return Opcode::Tanh;
    case ptx::Opcode::Copysign:
        return Opcode::Copysign;
    default:
        return Opcode::Undef;
    }
}

bool rounds(Opcode opcode) {
    return opcode == Opcode::Add || opcode == Opcode::Sub || opcode == Opcode::Mul ||
           opcode == Opcode::Fma;
}

Test test_of(ptx::FloatTest test) {
    switch (test) {
    case ptx::FloatTest::Infinite:
        return Test::Infinite;
    case ptx::FloatTest::Number:
        return Test::Number;
    case ptx::FloatTest::NotANumber:
        return Test::NotNumber;
    case ptx::FloatTest::Normal:
        return Test::Normal;
    case ptx::FloatTest::Subnormal:
        return Test::Subnormal;
    default:
        return Test::Finite;
    }
}

void classify(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a = attributes(i);
    a.test = test_of(i.modifiers.float_test);
    f.write(i.operand(0), f.emit(Opcode::Testp, a, {f.read(i.operand(1), a.type)}), Scalar::Pred);
}

/// min and max of three operands (PTX 8.8) are two operations on two operands.
void extreme_of_three(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode,
                      const Attributes &a) {
    Value *two = f.emit(opcode, a, {f.read(i.operand(1), a.type), f.read(i.operand(2), a.type)});
    f.write(i.operand(0), f.emit(opcode, a, {two, f.read(i.operand(3), a.type)}), a.type);
}

/// Two singles in 64 bits (PTX 8.6): the operation on each.
void on_pairs(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode, Attributes a) {
    a.type = Scalar::F32;
    Attributes halves;
    halves.type = Scalar::B32;
    halves.vector = 2;
    std::array<std::vector<Value *>, 2> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++) {
        const Instruction *both =
            f.builder().append(Opcode::Unpack, halves, {f.read(i.operand(n), Scalar::B64)});
        for (std::size_t half = 0; half < 2; half++)
            operands[half].push_back(f.builder().bitcast(both->result(half), Type::F32));
    }
    std::array<Value *, 2> results;
    for (std::size_t half = 0; half < 2; half++)
        results[half] =
            f.builder().bitcast(f.builder().append(opcode, a, operands[half])->result(), Type::I32);
    f.write(i.operand(0), f.emit(Opcode::Pack, Scalar::B64, {results[0], results[1]}), Scalar::B64);
}

/// An operand of a mixed operation, which is widened: all are but the last.
Value *widened_operand(FunctionLowering &f, const ptx::Instruction &i, std::size_t n, Scalar type) {
    if (n + 1 == i.operands.size())
        return f.read(i.operand(n), type);
    Attributes widen;
    widen.type = type;
    widen.source_type = scalar(i.modifiers.types[1]);
    return f.emit(Opcode::Convert, widen, {f.read(i.operand(n), widen.source_type)});
}

/// add.f32.f16 and the like (PTX 8.6): the operation of the first type.
void on_mixed(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode, const Attributes &a) {
    std::vector<Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(widened_operand(f, i, n, a.type));
    f.write(i.operand(0), f.builder().append(opcode, a, operands)->result(), a.type);
}

} // namespace

void lower_float(FunctionLowering &f, const ptx::Instruction &i) {
    if (i.opcode == ptx::Opcode::Testp)
        return classify(f, i);
    Opcode opcode = opcode_of(i.opcode);
    Attributes a = attributes(i);
    // Before sm_20, f32 had no subnormal numbers.
    const unsigned sm = f.module().source().target.sm;
    a.ftz |= a.type == Scalar::F32 && sm != 0 && sm < 20;
    const bool mixed = i.modifiers.type_count > 1;
    if (i.modifiers.oob)
        return f.error(
            i, "`.oob` is not supported: PTX does not document which NaN means `out of bounds`");
    if (a.type == Scalar::None || opcode == Opcode::Undef ||
        ((mixed || a.type == Scalar::F32x2) && !rounds(opcode)))
        return f.unsupported(i);
    if (rounds(opcode)) {
        // Without a rounding PTX allows that a product and a sum become one fma.
        a.no_fuse = a.rounding != Rounding::None && opcode != Opcode::Fma;
        if (a.rounding == Rounding::None)
            a.rounding = Rounding::Nearest;
    }
    if (mixed)
        return on_mixed(f, i, opcode, a);
    if (a.type == Scalar::F32x2)
        return on_pairs(f, i, opcode, a);
    bool extreme = opcode == Opcode::Min || opcode == Opcode::Max;
    if (extreme && i.operands.size() == 4)
        return extreme_of_three(f, i, opcode, a);
    std::vector<Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(f.read(i.operand(n), a.type));
    f.write(i.operand(0), f.builder().append(opcode, a, operands)->result(), a.type);
}

} // namespace softcuda::ir
