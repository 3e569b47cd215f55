// lower_convert.cpp -- cvt in all its forms.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

/// cvt.pack.sat.u16.s32 d, a, b and cvt.pack.sat.u8.s32.b32 d, a, b, c.
void convert_two(FunctionLowering &f, const ptx::Instruction &i) {
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

/// What two of are in a pair; None: the type is no pair.
Scalar element_of_pair(Scalar pair) {
    switch (pair) {
    case Scalar::F16x2:
        return Scalar::F16;
    case Scalar::E4M3x2:
        return Scalar::E4M3;
    case Scalar::E5M2x2:
        return Scalar::E5M2;
    default:
        return Scalar::None;
    }
}

/// cvt.rn.f16x2.e4m3x2 and its like: both halves of a pair.
Value *convert_pair(FunctionLowering &f, Attributes a, Value *pair) {
    const unsigned width = bits(a.source_type) / 2;
    a.source_type = element_of_pair(a.source_type);
    const Type type = register_class(a.source_type);
    Value *above = f.emit(Opcode::Shr, bits(pair->type) == 32 ? Scalar::U32 : Scalar::U16,
                          {pair, f.constant(Type::I32, width)});
    return f.emit(Opcode::ConvertPair, a,
                  {f.builder().resize(above, type, false), f.builder().resize(pair, type, false)});
}

} // namespace

void lower_convert(FunctionLowering &f, const ptx::Instruction &i) {
    if (i.opcode == ptx::Opcode::CvtPack)
        return convert_two(f, i);
    if (i.modifiers.rounding == ptx::Rounding::Rs)
        return f.error(i, "stochastic rounding needs sm_100a or a similar target");
    Attributes a = attributes(i);
    a.source_type = scalar(i.modifiers.types[1]);
    if (a.type == Scalar::None || a.source_type == Scalar::None || i.modifiers.type_count != 2 ||
        i.operands.size() > 3)
        return f.unsupported(i);
    Value *first = f.read(i.operand(1), a.source_type);
    if (element_of_pair(a.source_type) != Scalar::None)
        return f.write(i.operand(0), convert_pair(f, a, first), a.type);
    Value *value = i.operands.size() == 2 ? f.emit(Opcode::Convert, a, {first})
                                          : f.emit(Opcode::ConvertPair, a,
                                                   {first, f.read(i.operand(2), a.source_type)});
    f.write(i.operand(0), value, a.type);
}

} // namespace softcuda::ir
