// integer.cpp -- integer arithmetic.
#include "vector_math/families.h"
#include "vector_math/integer_division.h"

namespace softcuda::vector_math {

namespace {

using ir::Opcode;
using Sign = Emitter::Sign;

/// The upper halves of 64-bit products, from products of 32-bit pieces; LLVM would split vectors of
/// 128-bit integers into lanes.
Value *multiply_high_64(Emitter &e, Value *a, Value *b, Sign sign) {
    const auto low = [&](Value *x) { return e.ir.CreateAnd(x, e.integer(x, 0xffff'ffff)); };
    const auto high = [&](Value *x) { return e.ir.CreateLShr(x, 32); };
    Value *ll = e.ir.CreateMul(low(a), low(b)), *lh = e.ir.CreateMul(low(a), high(b));
    Value *hl = e.ir.CreateMul(high(a), low(b)), *hh = e.ir.CreateMul(high(a), high(b));
    Value *middle = e.ir.CreateAdd(e.ir.CreateAdd(high(ll), low(lh)), low(hl));
    Value *result =
        e.ir.CreateAdd(e.ir.CreateAdd(hh, high(middle)), e.ir.CreateAdd(high(lh), high(hl)));
    if (sign == Sign::Unsigned)
        return result;
    // As signed numbers a and b are smaller by 2^64 if their top bit is set.
    const auto where_negative = [&](Value *x, Value *other) {
        return e.ir.CreateAnd(e.ir.CreateAShr(x, 63), other);
    };
    result = e.ir.CreateSub(result, where_negative(a, b));
    return e.ir.CreateSub(result, where_negative(b, a));
}

/// The upper halves of products of 32-bit lanes. Processors multiply every second lane to 64 bits:
///
///     a          a0 a1 a2 a3 ..         as <n/2 x i64>: low halves a0, a2 ..; high ones a1, a3 ..
///     even       l0 h0 l2 h2 ..         products of the low halves
///     odd        l1 h1 l3 h3 ..         of the high ones
///     result     h0 h1 h2 h3 ..         a shift and a blend, instead of widening all lanes
Value *multiply_high_32(Emitter &e, Value *a, Value *b, Sign sign) {
    const unsigned count = Emitter::lanes(a);
    auto *pairs = llvm::FixedVectorType::get(e.ir.getInt64Ty(), count / 2);
    const auto odd = [&](Value *x) {
        x = e.ir.CreateBitCast(x, pairs);
        return sign == Sign::Signed ? e.ir.CreateAShr(x, 32) : e.ir.CreateLShr(x, 32);
    };
    const auto even = [&](Value *x) {
        x = e.ir.CreateBitCast(x, pairs);
        return sign == Sign::Signed ? e.ir.CreateAShr(e.ir.CreateShl(x, 32), 32)
                                    : e.ir.CreateAnd(x, e.integer(x, 0xffff'ffff));
    };
    llvm::SmallVector<int, 32> upper;
    for (unsigned lane = 0; lane < count; ++lane)
        upper.push_back(static_cast<int>(lane % 2 == 0 ? lane + 1 : count + lane));
    Value *products[] = {e.ir.CreateMul(even(a), even(b)), e.ir.CreateMul(odd(a), odd(b))};
    return e.ir.CreateShuffleVector(e.ir.CreateBitCast(products[0], a->getType()),
                                    e.ir.CreateBitCast(products[1], a->getType()), upper);
}

Value *multiply_wide(Emitter &e, Value *a, Value *b, Sign sign) {
    const unsigned bits = 2 * Emitter::bits(a);
    return e.ir.CreateMul(e.resize(a, bits, sign), e.resize(b, bits, sign));
}

Value *multiply_high(Emitter &e, Value *a, Value *b, Sign sign) {
    const unsigned bits = Emitter::bits(a);
    if (bits == 64 && Emitter::lanes(a))
        return multiply_high_64(e, a, b, sign);
    if (bits == 32 && Emitter::lanes(a) % 2 == 0 && Emitter::lanes(a))
        return multiply_high_32(e, a, b, sign);
    return e.resize(e.ir.CreateLShr(multiply_wide(e, a, b, sign), bits), bits);
}

/// The low or high 32 bits of the 48-bit product of 24-bit integers.
Value *multiply_24(Emitter &e, const Operation &op) {
    const Sign sign = Emitter::sign_of(op.type);
    const auto cut = [&](Value *x) {
        Value *top = e.ir.CreateShl(x, 8);
        return sign == Sign::Signed ? e.ir.CreateAShr(top, 8) : e.ir.CreateLShr(top, 8);
    };
    Value *a = cut(op.operands[0]), *b = cut(op.operands[1]);
    if (!op.attributes.high)
        return e.ir.CreateMul(a, b);
    return e.resize(e.ir.CreateLShr(multiply_wide(e, a, b, sign), 16), 32);
}

Value *absolute(Emitter &e, Value *a) {
    // False: the smallest integer does not change.
    return e.ir.CreateIntrinsic(llvm::Intrinsic::abs, {a->getType()}, {a, e.ir.getFalse()});
}

Value *minimum(Emitter &e, Value *a, Value *b, Sign sign) {
    return e.binary(sign == Sign::Signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
}

Value *maximum(Emitter &e, Value *a, Value *b, Sign sign) {
    return e.binary(sign == Sign::Signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
}

/// c + |a - b|; the difference is computed without overflow.
Value *sum_of_difference(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *b = op.operands[1];
    const Sign sign = Emitter::sign_of(op.type);
    Value *difference = e.ir.CreateSub(maximum(e, a, b, sign), minimum(e, a, b, sign));
    return e.ir.CreateAdd(op.operands[2], difference);
}

/// Piece `index` of `bits` bits, widened.
Value *piece(Emitter &e, Value *value, unsigned index, unsigned bits, ir::Scalar type) {
    Value *top = e.ir.CreateShl(value, 32 - bits * (index + 1));
    return ir::is_signed(type) ? e.ir.CreateAShr(top, 32 - bits) : e.ir.CreateLShr(top, 32 - bits);
}

/// c + the sum of products: four bytes each (dp4a), or two 16-bit halves of a by two bytes of b.
Value *dot_product(Emitter &e, const Operation &op) {
    const bool bytes = op.opcode == Opcode::Dp4a;
    const unsigned first = op.attributes.high ? 2 : 0;
    Value *sum = op.operands[2];
    for (unsigned i = 0; i < (bytes ? 4 : 2); ++i) {
        Value *a = piece(e, op.operands[0], i, bytes ? 8 : 16, op.attributes.type);
        Value *b = piece(e, op.operands[1], bytes ? i : first + i, 8, op.attributes.source_type);
        sum = e.ir.CreateAdd(sum, e.ir.CreateMul(a, b));
    }
    return sum;
}

Value *add_or_sub(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *b = op.operands[1];
    const bool add = op.opcode == Opcode::Add;
    if (!op.attributes.saturate)
        return add ? e.ir.CreateAdd(a, b) : e.ir.CreateSub(a, b);
    if (ir::is_signed(op.type))
        return e.binary(add ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::ssub_sat, a, b);
    return e.binary(add ? llvm::Intrinsic::uadd_sat : llvm::Intrinsic::usub_sat, a, b);
}

} // namespace

Value *emit_integer(Emitter &e, const Operation &op) {
    const auto &operands = op.operands;
    Value *a = operands[0], *b = operands.size() > 1 ? operands[1] : nullptr;
    const Sign sign = Emitter::sign_of(op.type);
    switch (op.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
        return add_or_sub(e, op);
    case Opcode::Mul:
        return e.ir.CreateMul(a, b);
    case Opcode::MulHigh:
        return multiply_high(e, a, b, sign);
    case Opcode::MulWide:
        return multiply_wide(e, a, b, sign);
    case Opcode::Mul24:
        return multiply_24(e, op);
    case Opcode::Div:
        return divide(e, a, b, sign).quotient;
    case Opcode::Rem:
        return divide(e, a, b, sign).remainder;
    case Opcode::Abs:
        return absolute(e, a);
    case Opcode::Neg:
        return e.ir.CreateNeg(a);
    case Opcode::Min:
    case Opcode::Max: {
        Value *result = op.opcode == Opcode::Min ? minimum(e, a, b, sign) : maximum(e, a, b, sign);
        return op.attributes.relu ? maximum(e, result, e.integer(a, 0), Sign::Signed) : result;
    }
    case Opcode::Sad:
        return sum_of_difference(e, op);
    case Opcode::Dp4a:
    case Opcode::Dp2a:
        return dot_product(e, op);
    default:
        refuse(op, "not an operation of integers");
    }
}

Results emit_carry(Emitter &e, const Operation &op) {
    Value *a = op.operands[0], *b = op.operands[1];
    Value *carry_in = e.ir.CreateZExt(op.operands[2], a->getType());
    if (op.opcode == Opcode::AddCarry) {
        Value *partial = e.ir.CreateAdd(a, b);
        Value *sum = e.ir.CreateAdd(partial, carry_in);
        return {sum,
                e.ir.CreateOr(e.ir.CreateICmpULT(partial, a), e.ir.CreateICmpULT(sum, partial))};
    }
    Value *partial = e.ir.CreateSub(a, b);
    return {e.ir.CreateSub(partial, carry_in),
            e.ir.CreateOr(e.ir.CreateICmpULT(a, b), e.ir.CreateICmpULT(partial, carry_in))};
}

} // namespace softcuda::vector_math
