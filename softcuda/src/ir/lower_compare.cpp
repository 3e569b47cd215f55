// lower_compare.cpp -- set, setp, selp, slct.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

Compare compare_of(ptx::Compare compare) {
    switch (compare) {
    case ptx::Compare::Ne:
        return Compare::Ne;
    case ptx::Compare::Lt:
    case ptx::Compare::Lo:
        return Compare::Lt;
    case ptx::Compare::Le:
    case ptx::Compare::Ls:
        return Compare::Le;
    case ptx::Compare::Gt:
    case ptx::Compare::Hi:
        return Compare::Gt;
    case ptx::Compare::Ge:
    case ptx::Compare::Hs:
        return Compare::Ge;
    case ptx::Compare::Equ:
        return Compare::Equ;
    case ptx::Compare::Neu:
        return Compare::Neu;
    case ptx::Compare::Ltu:
        return Compare::Ltu;
    case ptx::Compare::Leu:
        return Compare::Leu;
    case ptx::Compare::Gtu:
        return Compare::Gtu;
    case ptx::Compare::Geu:
        return Compare::Geu;
    case ptx::Compare::Num:
        return Compare::Num;
    case ptx::Compare::Nan:
        return Compare::Nan;
    default:
        return Compare::Eq;
    }
}

/// lo, ls, hi and hs compare as unsigned whatever the type says.
Scalar compared_type(ptx::Compare compare, Scalar type) {
    bool forced = compare == ptx::Compare::Lo || compare == ptx::Compare::Ls ||
                  compare == ptx::Compare::Hi || compare == ptx::Compare::Hs;
    if (!forced || is_floating(type))
        return type;
    return bits(type) == 16 ? Scalar::U16 : bits(type) == 32 ? Scalar::U32 : Scalar::U64;
}

Scalar half_type(Scalar packed) {
    if (packed == Scalar::F16x2)
        return Scalar::F16;
    return packed == Scalar::BF16x2 ? Scalar::BF16 : Scalar::None;
}

Value *combine(FunctionLowering &f, const ptx::Instruction &i, Value *value, Value *with) {
    switch (i.modifiers.logic) {
    case ptx::Logic::And:
        return f.emit(Opcode::And, Scalar::Pred, {value, with});
    case ptx::Logic::Or:
        return f.emit(Opcode::Or, Scalar::Pred, {value, with});
    case ptx::Logic::Xor:
        return f.emit(Opcode::Xor, Scalar::Pred, {value, with});
    default:
        return value;
    }
}

/// The comparison of a and b, of both halves if they are packed.
std::vector<Value *> comparisons(FunctionLowering &f, const ptx::Instruction &i, Scalar type) {
    Attributes a;
    a.compare = compare_of(i.modifiers.compare);
    a.ftz = i.modifiers.ftz;
    Value *x = f.read(i.operand(1), type), *y = f.read(i.operand(2), type);
    Scalar half = half_type(type);
    if (half == Scalar::None) {
        a.type = compared_type(i.modifiers.compare, type);
        return {f.emit(Opcode::Compare, a, {x, y})};
    }
    Attributes pieces;
    pieces.type = Scalar::B16;
    pieces.vector = 2;
    Instruction *xs = f.builder().append(Opcode::Unpack, pieces, {x});
    Instruction *ys = f.builder().append(Opcode::Unpack, pieces, {y});
    a.type = half;
    return {f.emit(Opcode::Compare, a, {xs->result(0), ys->result(0)}),
            f.emit(Opcode::Compare, a, {xs->result(1), ys->result(1)})};
}

/// setp.lt.and.s32 p|q, a, b, c: p = (a < b) and c, q = !(a < b) and c. Of packed halves, p is the
/// lower one's and q the upper one's.
void set_predicate(FunctionLowering &f, const ptx::Instruction &i) {
    std::vector<Value *> results = comparisons(f, i, scalar(i.modifiers.type()));
    const ptx::Operand &destination = i.operand(0);
    bool pair = destination.is(ptx::OperandKind::Pair);
    if (pair && results.size() == 1)
        results.push_back(f.builder().logical_not(results[0]));
    if (i.operands.size() > 3) {
        Value *with = f.read(i.operand(3), Scalar::Pred);
        for (Value *&result : results)
            result = combine(f, i, result, with);
    }
    if (!pair)
        return f.write(destination, results[0], Scalar::Pred);
    f.write(destination.elements[0], results[0], Scalar::Pred);
    f.write(destination.elements[1], results[1], Scalar::Pred);
}

/// What set writes for true: all ones, or 1.0.
std::uint64_t true_bits(Scalar type) {
    switch (type) {
    case Scalar::F32:
        return 0x3f800000;
    case Scalar::F16:
    case Scalar::F16x2:
        return 0x3c00;
    case Scalar::BF16:
    case Scalar::BF16x2:
        return 0x3f80;
    default:
        return ~std::uint64_t{0};
    }
}

void set(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.types[0]), compared = scalar(i.modifiers.types[1]);
    std::vector<Value *> results = comparisons(f, i, compared);
    Type piece = results.size() == 2 ? Type::I16 : register_class(type);
    for (Value *&result : results) {
        if (i.operands.size() > 3)
            result = combine(f, i, result, f.read(i.operand(3), Scalar::Pred));
        result =
            f.builder().select(result, f.constant(piece, true_bits(type)), f.constant(piece, 0));
    }
    Value *value = results[0];
    if (results.size() == 2)
        value = f.emit(Opcode::Pack, Scalar::B32, {results[0], results[1]});
    f.write(i.operand(0), value, type);
}

void select(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    Value *a = f.read(i.operand(1), type), *b = f.read(i.operand(2), type);
    Value *condition = f.read(i.operand(3), Scalar::Pred);
    Type as = register_class(type);
    f.write(i.operand(0),
            f.builder().select(condition, f.builder().bitcast(a, as), f.builder().bitcast(b, as)),
            type);
}

/// slct: a if c >= 0, else b; a NaN is not >= 0.
void select_by_sign(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.types[0]);
    Attributes a;
    a.type = scalar(i.modifiers.types[1]);
    a.compare = Compare::Ge;
    a.ftz = i.modifiers.ftz;
    Value *c = f.read(i.operand(3), a.type);
    Value *condition = f.emit(Opcode::Compare, a, {c, f.constant(register_class(a.type), 0)});
    f.write(i.operand(0),
            f.builder().select(condition, f.read(i.operand(1), type), f.read(i.operand(2), type)),
            type);
}

} // namespace

void lower_compare(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Setp:
        return set_predicate(f, i);
    case ptx::Opcode::Set:
        return set(f, i);
    case ptx::Opcode::Selp:
        return select(f, i);
    default:
        return select_by_sign(f, i);
    }
}

} // namespace softcuda::ir
