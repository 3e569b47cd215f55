// lower_convert.cpp -- cvt in all its forms.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

/// cvt.pack.sat.u16.s32 d, a, b and cvt.pack.sat.u8.s32.b32 d, a, b, c.
void pack(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.type = scalar(i.modifiers.types[0]);
    a.source_type = scalar(i.modifiers.types[1]);
    a.saturate = true;
    if (a.type == Scalar::None)
        return f.unsupported(i);
    Value *upper =
        i.operands.size() > 3 ? f.read(i.operand(3), Scalar::B32) : f.constant(Type::I32, 0);
    f.write(i.operand(0),
            f.emit(Opcode::ConvertPack, a,
                   {f.read(i.operand(1), Scalar::B32), f.read(i.operand(2), Scalar::B32), upper}),
            Scalar::B32);
}

} // namespace

void lower_convert(FunctionLowering &f, const ptx::Instruction &i) {
    if (i.opcode == ptx::Opcode::CvtPack)
        return pack(f, i);
    if (i.modifiers.rounding == ptx::Rounding::Rs)
        return f.error(i, "rounding by random bits exists on sm_100a and its like only");
    Attributes a = attributes(i);
    a.source_type = scalar(i.modifiers.types[1]);
    if (a.type == Scalar::None || a.source_type == Scalar::None || i.modifiers.type_count != 2 ||
        i.operands.size() > 3)
        return f.unsupported(i);
    Value *first = f.read(i.operand(1), a.source_type);
    Value *value = i.operands.size() == 2 ? f.emit(Opcode::Convert, a, {first})
                                          : f.emit(Opcode::ConvertPair, a,
                                                   {first, f.read(i.operand(2), a.source_type)});
    f.write(i.operand(0), value, a.type);
}

} // namespace softcuda::ir
