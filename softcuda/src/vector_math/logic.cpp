// logic.cpp -- logic, shifts, bit fields, counts of bits, bytes.
#include "vector_math/families.h"
#include "vector_math/truth_table.h"

#include <array>
#include <vector>

namespace softcuda::vector_math {

namespace {

using ir::Opcode;

Value *at_most(Emitter &e, Value *a, std::uint64_t limit) {
    return e.binary(llvm::Intrinsic::umin, a, e.integer(a, limit));
}

/// Positions and lengths of fields, as integers of `width` bits. For 32-bit fields the low eight
/// bits are used; for 64-bit ones, for which an H200 has no instruction, all bits.
Value *field_number(Emitter &e, Value *number, unsigned width) {
    Value *most = e.integer(number, 0xff);
    return width == 32 ? e.ir.CreateAnd(number, most)
                       : e.resize(e.binary(llvm::Intrinsic::umin, number, most), width);
}

/// Left and right shifts by any amount of a's type. LLVM recognises the processor's own shifts that
/// give zero beyond the width.
Value *shift_left(Emitter &e, Value *a, Value *amount) {
    Value *inside = e.ir.CreateICmpULT(amount, e.integer(amount, Emitter::bits(a)));
    return e.ir.CreateSelect(inside, e.ir.CreateShl(a, amount), e.integer(a, 0));
}

Value *shift_right(Emitter &e, Value *a, Value *amount) {
    Value *inside = e.ir.CreateICmpULT(amount, e.integer(amount, Emitter::bits(a)));
    return e.ir.CreateSelect(inside, e.ir.CreateLShr(a, amount), e.integer(a, 0));
}

Value *shift_right_signed(Emitter &e, Value *a, Value *amount) {
    return e.ir.CreateAShr(a, at_most(e, amount, Emitter::bits(a) - 1));
}

Value *shift(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *amount = op.operands[1];
    if (Emitter::bits(a) < 32) // limited while it still has all its bits
        amount = at_most(e, amount, Emitter::bits(a));
    amount = e.resize(amount, Emitter::bits(a));
    if (op.opcode == Opcode::Shl)
        return shift_left(e, a, amount);
    return ir::is_signed(op.type) ? shift_right_signed(e, a, amount) : shift_right(e, a, amount);
}

Value *funnel(Emitter &e, const Operation &op) {
    Value *low = op.operands[0], *high = op.operands[1], *amount = op.operands[2];
    const bool left = op.opcode == Opcode::FunnelLeft;
    Value *shifted = e.ternary(left ? llvm::Intrinsic::fshl : llvm::Intrinsic::fshr, high, low,
                               amount); // amount modulo 32
    if (op.attributes.wrap)
        return shifted;
    Value *beyond = e.ir.CreateICmpUGE(amount, e.integer(amount, 32));
    return e.ir.CreateSelect(beyond, left ? low : high, shifted);
}

/// The low `length` bits set, of a's type.
Value *low_bits(Emitter &e, Value *length) {
    return e.ir.CreateNot(
        shift_left(e, llvm::Constant::getAllOnesValue(length->getType()), length));
}

Value *extract_field(Emitter &e, const Operation &op) {
    Value *a = op.operands[0];
    const unsigned width = Emitter::bits(a);
    Value *position = field_number(e, op.operands[1], width);
    Value *length = field_number(e, op.operands[2], width);
    if (!ir::is_signed(op.type))
        return e.ir.CreateAnd(shift_right(e, a, position), low_bits(e, length));
    // The field's top bit is shifted to the top, then down with its sign. A field that ends beyond
    // the top is filled with a's own sign.
    Value *end = at_most(e, e.ir.CreateAdd(position, length), width);
    Value *up = e.ir.CreateSub(e.integer(a, width), end);
    Value *top = shift_left(e, a, up);
    Value *field = shift_right_signed(e, top, e.ir.CreateAdd(up, position));
    Value *empty = e.ir.CreateICmpEQ(length, e.integer(length, 0));
    return e.ir.CreateSelect(empty, e.integer(a, 0), field);
}

Value *insert_field(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *b = op.operands[1];
    const unsigned width = Emitter::bits(a);
    Value *position = field_number(e, op.operands[2], width);
    Value *mask = shift_left(e, low_bits(e, field_number(e, op.operands[3], width)), position);
    Value *moved = shift_left(e, a, position);
    return e.ir.CreateOr(e.ir.CreateAnd(moved, mask), e.ir.CreateAnd(b, e.ir.CreateNot(mask)));
}

/// `b` ones from bit `a` on.
Value *bit_mask(Emitter &e, const Operation &op) {
    Value *position = op.operands[0], *length = op.operands[1];
    if (op.attributes.wrap) {
        position = e.ir.CreateAnd(position, e.integer(position, 31));
        length = e.ir.CreateAnd(length, e.integer(length, 31));
    }
    return shift_left(e, low_bits(e, length), position);
}

/// The low `b` bits of a, extended.
Value *extend(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *length = op.operands[1];
    length =
        op.attributes.wrap ? e.ir.CreateAnd(length, e.integer(length, 31)) : at_most(e, length, 32);
    if (!ir::is_signed(op.type))
        return e.ir.CreateAnd(a, low_bits(e, length));
    Value *up = e.ir.CreateSub(e.integer(a, 32), length);
    Value *result = shift_right_signed(e, shift_left(e, a, up), up);
    return e.ir.CreateSelect(e.ir.CreateICmpEQ(length, e.integer(length, 0)), e.integer(a, 0),
                             result);
}

Value *leading_zeros(Emitter &e, Value *a) {
    // False: for zero the result is the width.
    Value *count =
        e.ir.CreateIntrinsic(llvm::Intrinsic::ctlz, {a->getType()}, {a, e.ir.getFalse()});
    return e.resize(count, 32);
}

/// The position of the most significant bit that is not a copy of the sign; all ones if there is
/// none.
Value *find_top_bit(Emitter &e, const Operation &op) {
    Value *a = op.operands[0];
    const unsigned width = Emitter::bits(a);
    if (ir::is_signed(op.type))
        a = e.ir.CreateXor(a, e.ir.CreateAShr(a, width - 1));
    Value *count = leading_zeros(e, a);
    Value *none = e.ir.CreateICmpEQ(a, e.integer(a, 0));
    Value *place =
        op.attributes.shift_amount ? count : e.ir.CreateSub(e.integer(count, width - 1), count);
    return e.ir.CreateSelect(none, e.integer(count, ~std::uint64_t{0}), place);
}

/// The position of the nth set bit (n from 1) of `bits`, by halving: if the lower half has fewer
/// than n set bits, it is skipped. All ones if there are fewer than n in all.
Value *place_of_nth(Emitter &e, Value *bits, Value *n) {
    const auto population = [&](Value *x) { return e.unary(llvm::Intrinsic::ctpop, x); };
    Value *place = e.integer(bits, 0), *rest = bits, *left = n;
    for (unsigned half = 16; half >= 1; half /= 2) {
        Value *low = e.ir.CreateAnd(rest, e.integer(rest, (std::uint64_t{1} << half) - 1));
        Value *count = population(low);
        Value *above = e.ir.CreateICmpUGT(left, count);
        rest = e.ir.CreateSelect(above, e.ir.CreateLShr(rest, half), low);
        left = e.ir.CreateSelect(above, e.ir.CreateSub(left, count), left);
        place = e.ir.CreateSelect(above, e.ir.CreateAdd(place, e.integer(place, half)), place);
    }
    Value *enough = e.ir.CreateICmpUGE(population(bits), n);
    return e.ir.CreateSelect(enough, place, e.integer(place, ~std::uint64_t{0}));
}

/// The nth set bit of a mask from bit `base` on: upwards for n > 0, downwards for n < 0, base
/// itself for 0. Downwards is upwards in the reversed mask.
Value *find_nth_set(Emitter &e, const Operation &op) {
    Value *mask = op.operands[0], *base = op.operands[1], *n = op.operands[2];
    Value *down = e.ir.CreateICmpSLT(n, e.integer(n, 0));
    Value *last = e.integer(base, 31);
    Value *ones = llvm::Constant::getAllOnesValue(mask->getType());
    Value *reversed = e.unary(llvm::Intrinsic::bitreverse, mask);
    Value *bits = e.ir.CreateSelect(down, reversed, mask);
    Value *from = e.ir.CreateSelect(down, e.ir.CreateSub(last, base), base);
    bits = e.ir.CreateAnd(bits, shift_left(e, ones, from));
    Value *zero = e.ir.CreateICmpEQ(n, e.integer(n, 0));
    // For n = 0: the first bit from the base on, if that is the base.
    Value *count = e.ir.CreateSelect(down, e.ir.CreateNeg(n), n);
    count = e.ir.CreateSelect(zero, e.integer(n, 1), count);
    Value *found = place_of_nth(e, bits, count);
    Value *elsewhere = e.ir.CreateAnd(zero, e.ir.CreateICmpNE(found, base));
    Value *none = e.ir.CreateOr(elsewhere, e.ir.CreateICmpEQ(found, ones));
    Value *place = e.ir.CreateSelect(down, e.ir.CreateSub(last, found), found);
    // For n = -2^31 an H200 returns 0.
    Value *least = e.ir.CreateICmpEQ(n, e.integer(n, 0x8000'0000));
    return e.ir.CreateSelect(least, e.integer(ones, 0), e.ir.CreateSelect(none, ones, place));
}

// Bytes.

constexpr std::uint64_t selectors(std::uint64_t s0, std::uint64_t s1, std::uint64_t s2,
                                  std::uint64_t s3) {
    return s0 | s1 << 16 | s2 << 32 | s3 << 48;
}

/// For each mode except the default: the four selectors among which the low bits of c choose, in
/// the default mode's form.
std::uint64_t selector_table(ir::PrmtMode mode) {
    switch (mode) {
    case ir::PrmtMode::F4e:
        return selectors(0x3210, 0x4321, 0x5432, 0x6543);
    case ir::PrmtMode::B4e:
        return selectors(0x5670, 0x6701, 0x7012, 0x0123);
    case ir::PrmtMode::Rc8:
        return selectors(0x0000, 0x1111, 0x2222, 0x3333);
    case ir::PrmtMode::Ecl:
        return selectors(0x3210, 0x3211, 0x3222, 0x3333);
    case ir::PrmtMode::Ecr:
        return selectors(0x0000, 0x1110, 0x2210, 0x3210);
    case ir::PrmtMode::Rc16:
        return selectors(0x1010, 0x3232, 0x1010, 0x3232);
    case ir::PrmtMode::Bytes:
        break;
    }
    return 0;
}

/// c's value if it is one constant for all lanes.
const llvm::ConstantInt *one_constant(Value *c) {
    const auto *constant = llvm::dyn_cast<llvm::Constant>(c);
    if (constant && constant->getType()->isVectorTy())
        constant = constant->getSplatValue();
    return llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
}

/// With a constant selector: a shuffle of bytes, and a sign fill if a nibble's top bit is set.
Value *permute_known(Emitter &e, Value *a, Value *b, std::uint32_t selector) {
    const unsigned lanes = Emitter::lanes(a), bytes = 4 * std::max(1u, lanes);
    std::vector<int> mask(bytes);
    for (unsigned i = 0; i < bytes; ++i) {
        const unsigned source = selector >> (4 * (i % 4)) & 7;
        mask[i] =
            static_cast<int>(source < 4 ? i / 4 * 4 + source : bytes + i / 4 * 4 + source - 4);
    }
    Value *shuffled = e.ir.CreateShuffleVector(e.split_lanes(a, 8), e.split_lanes(b, 8), mask);
    if (selector & 0x8888) {
        Value *filled = e.ir.CreateAShr(shuffled, 7);
        for (unsigned i = 0; i < bytes; ++i)
            mask[i] = static_cast<int>(selector >> (4 * (i % 4)) & 8 ? bytes + i : i);
        shuffled = e.ir.CreateShuffleVector(shuffled, filled, mask);
    }
    return e.join_lanes(shuffled, lanes, 32);
}

Value *permute(Emitter &e, Value *a, Value *b, Value *selector) {
    Value *both = e.ir.CreateOr(e.resize(a, 64), e.ir.CreateShl(e.resize(b, 64), 32));
    Value *result = e.integer(a, 0);
    for (unsigned i = 0; i < 4; ++i) {
        Value *nibble = e.ir.CreateLShr(selector, 4 * i);
        Value *place = e.ir.CreateShl(e.ir.CreateAnd(nibble, e.integer(nibble, 7)), 3);
        Value *byte = e.resize(e.ir.CreateLShr(both, e.resize(place, 64)), 8);
        Value *fill =
            e.ir.CreateICmpNE(e.ir.CreateAnd(nibble, e.integer(nibble, 8)), e.integer(nibble, 0));
        byte = e.ir.CreateSelect(fill, e.ir.CreateAShr(byte, 7), byte);
        result = e.ir.CreateOr(result, e.ir.CreateShl(e.resize(byte, 32), 8 * i));
    }
    return result;
}

Value *permute_bytes(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *b = op.operands[1], *c = op.operands[2];
    if (op.attributes.prmt != ir::PrmtMode::Bytes) {
        const std::uint64_t table = selector_table(op.attributes.prmt);
        Value *which = e.resize(e.ir.CreateAnd(c, e.integer(c, 3)), 64);
        Value *rows = e.integer(which, table);
        c = e.resize(e.ir.CreateLShr(rows, e.ir.CreateShl(which, 4)), 32);
    }
    if (const llvm::ConstantInt *known = one_constant(c))
        return permute_known(e, a, b, static_cast<std::uint32_t>(known->getZExtValue()));
    return permute(e, a, b, c);
}

} // namespace

Value *emit_logic(Emitter &e, const Operation &op) {
    const auto &operands = op.operands;
    switch (op.opcode) {
    case Opcode::And:
        return e.ir.CreateAnd(operands[0], operands[1]);
    case Opcode::Or:
        return e.ir.CreateOr(operands[0], operands[1]);
    case Opcode::Xor:
        return e.ir.CreateXor(operands[0], operands[1]);
    case Opcode::Not:
        return e.ir.CreateNot(operands[0]);
    case Opcode::Lop3:
        return emit_truth_table(e, static_cast<std::uint8_t>(op.attributes.immediate), operands[0],
                                operands[1], operands[2]);
    case Opcode::Shl:
    case Opcode::Shr:
        return shift(e, op);
    case Opcode::FunnelLeft:
    case Opcode::FunnelRight:
        return funnel(e, op);
    case Opcode::Prmt:
        return permute_bytes(e, op);
    case Opcode::Popc:
        return e.resize(e.unary(llvm::Intrinsic::ctpop, operands[0]), 32);
    case Opcode::Clz:
        return leading_zeros(e, operands[0]);
    case Opcode::Bfind:
        return find_top_bit(e, op);
    case Opcode::Fns:
        return find_nth_set(e, op);
    case Opcode::Brev:
        return e.unary(llvm::Intrinsic::bitreverse, operands[0]);
    case Opcode::Bfe:
        return extract_field(e, op);
    case Opcode::Bfi:
        return insert_field(e, op);
    case Opcode::Bmsk:
        return bit_mask(e, op);
    case Opcode::Szext:
        return extend(e, op);
    default:
        refuse(op, "not an operation of bits");
    }
}

} // namespace softcuda::vector_math
