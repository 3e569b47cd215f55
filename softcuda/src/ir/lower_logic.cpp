// lower_logic.cpp -- bitwise logic, shifts, and picking bytes.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

void bitwise(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode) {
    Scalar type = scalar(i.modifiers.type());
    std::vector<Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(f.read(i.operand(n), type));
    Attributes a;
    a.type = type;
    f.write(i.operand(0), f.builder().append(opcode, a, operands)->result(), type);
}

void shift(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode) {
    Scalar type = scalar(i.modifiers.type());
    Value *value = f.read(i.operand(1), type), *amount = f.read(i.operand(2), Scalar::U32);
    f.write(i.operand(0), f.emit(opcode, type, {value, amount}), type);
}

/// cnot: 1 if the operand is 0, else 0.
void logical_not(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    Type as = register_class(type);
    Value *zero = f.constant(as, 0);
    Value *is_zero = f.builder().compare(Compare::Eq, type, f.read(i.operand(1), type), zero);
    f.write(i.operand(0), f.builder().select(is_zero, f.constant(as, 1), zero), type);
}

/// lop3.b32 d, a, b, c, table;  lop3.or.b32 d|p, a, b, c, table, q with p = (d != 0) or q.
void by_table(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = Scalar::B32;
    a.immediate = static_cast<std::uint32_t>(i.operand(4).integer) & 0xff;
    Value *value = f.emit(Opcode::Lop3, a,
                          {f.read(i.operand(1), Scalar::B32), f.read(i.operand(2), Scalar::B32),
                           f.read(i.operand(3), Scalar::B32)});
    const ptx::Operand &destination = i.operand(0);
    if (!destination.is(ptx::OperandKind::Pair))
        return f.write(destination, value, Scalar::B32);
    Value *nonzero = f.builder().compare(Compare::Ne, Scalar::B32, value, f.constant(Type::I32, 0));
    if (i.operands.size() > 5) {
        Opcode combine = i.modifiers.logic == ptx::Logic::And ? Opcode::And : Opcode::Or;
        nonzero = f.emit(combine, Scalar::Pred, {nonzero, f.read(i.operand(5), Scalar::Pred)});
    }
    f.write(destination.elements[0], value, Scalar::B32);
    f.write(destination.elements[1], nonzero, Scalar::Pred);
}

void funnel(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = Scalar::B32;
    a.wrap = i.modifiers.overflow == ptx::Overflow::Wrap;
    Opcode opcode =
        i.modifiers.direction == ptx::Direction::Left ? Opcode::FunnelLeft : Opcode::FunnelRight;
    f.write(i.operand(0),
            f.emit(opcode, a,
                   {f.read(i.operand(1), Scalar::B32), f.read(i.operand(2), Scalar::B32),
                    f.read(i.operand(3), Scalar::U32)}),
            Scalar::B32);
}

PrmtMode prmt_mode(ptx::PermuteMode mode) {
    switch (mode) {
    case ptx::PermuteMode::F4e:
        return PrmtMode::F4e;
    case ptx::PermuteMode::B4e:
        return PrmtMode::B4e;
    case ptx::PermuteMode::Rc8:
        return PrmtMode::Rc8;
    case ptx::PermuteMode::Ecl:
        return PrmtMode::Ecl;
    case ptx::PermuteMode::Ecr:
        return PrmtMode::Ecr;
    case ptx::PermuteMode::Rc16:
        return PrmtMode::Rc16;
    default:
        return PrmtMode::Bytes;
    }
}

void permute(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = Scalar::B32;
    a.prmt = prmt_mode(i.modifiers.permute);
    f.write(i.operand(0),
            f.emit(Opcode::Prmt, a,
                   {f.read(i.operand(1), Scalar::B32), f.read(i.operand(2), Scalar::B32),
                    f.read(i.operand(3), Scalar::B32)}),
            Scalar::B32);
}

} // namespace

void lower_logic(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::And:
        return bitwise(f, i, Opcode::And);
    case ptx::Opcode::Or:
        return bitwise(f, i, Opcode::Or);
    case ptx::Opcode::Xor:
        return bitwise(f, i, Opcode::Xor);
    case ptx::Opcode::Not:
        return bitwise(f, i, Opcode::Not);
    case ptx::Opcode::Cnot:
        return logical_not(f, i);
    case ptx::Opcode::Shl:
        return shift(f, i, Opcode::Shl);
    case ptx::Opcode::Shr:
        return shift(f, i, Opcode::Shr);
    case ptx::Opcode::Lop3:
        return by_table(f, i);
    case ptx::Opcode::Shf:
        return funnel(f, i);
    default:
        return permute(f, i);
    }
}

} // namespace softcuda::ir
