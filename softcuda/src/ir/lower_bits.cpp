// lower_bits.cpp -- counting, finding and moving bits; dot products of bytes.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

/// One operand of the type, a 32-bit result.
void count(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode) {
    Attributes a = attributes(i);
    a.shift_amount = i.modifiers.shift_amount;
    f.write(i.operand(0), f.emit(opcode, a, {f.read(i.operand(1), a.type)}), Scalar::U32);
}

/// The first `typed` operands are of the instruction's type, the others 32 bits.
void mixed(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode, std::size_t typed) {
    Attributes a = attributes(i);
    a.wrap = i.modifiers.overflow == ptx::Overflow::Wrap;
    std::vector<Value *> operands;
    for (std::size_t n = 1; n < i.operands.size(); n++)
        operands.push_back(f.read(i.operand(n), n <= typed ? a.type : Scalar::U32));
    f.write(i.operand(0), f.builder().append(opcode, a, operands)->result(), a.type);
}

void dot(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode) {
    Attributes a = attributes(i);
    a.source_type = scalar(i.modifiers.types[1]);
    a.high = i.modifiers.part == ptx::Part::Hi;
    f.write(i.operand(0),
            f.emit(opcode, a,
                   {f.read(i.operand(1), Scalar::B32), f.read(i.operand(2), Scalar::B32),
                    f.read(i.operand(3), Scalar::B32)}),
            Scalar::B32);
}

} // namespace

void lower_bits(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Popc:
        return count(f, i, Opcode::Popc);
    case ptx::Opcode::Clz:
        return count(f, i, Opcode::Clz);
    case ptx::Opcode::Bfind:
        return count(f, i, Opcode::Bfind);
    case ptx::Opcode::Fns:
        return mixed(f, i, Opcode::Fns, 3);
    case ptx::Opcode::Brev:
        return mixed(f, i, Opcode::Brev, 1);
    case ptx::Opcode::Bfe:
        return mixed(f, i, Opcode::Bfe, 1);
    case ptx::Opcode::Bfi:
        return mixed(f, i, Opcode::Bfi, 2);
    case ptx::Opcode::Szext:
        return mixed(f, i, Opcode::Szext, 1);
    case ptx::Opcode::Bmsk:
        return mixed(f, i, Opcode::Bmsk, 2);
    case ptx::Opcode::Dp4a:
        return dot(f, i, Opcode::Dp4a);
    case ptx::Opcode::Dp2a:
        return dot(f, i, Opcode::Dp2a);
    default:
        return f.unsupported(i);
    }
}

} // namespace softcuda::ir
