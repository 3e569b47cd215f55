// rounding.cpp -- directed rounding that does not change the processor's mode for other code.
//
// If the processor has no fma, the C library's is called, lane by lane.
#include "vector_math/rounding.h"

#include <llvm/IR/PatternMatch.h>

namespace softcuda::vector_math {

namespace {

using ir::Rounding;

target::Direction direction_of(Rounding rounding) {
    switch (rounding) {
    case Rounding::Down:
        return target::Direction::Down;
    case Rounding::Up:
        return target::Direction::Up;
    case Rounding::Zero:
        return target::Direction::Zero;
    default:
        return target::Direction::Nearest;
    }
}

Value *in_direction(Emitter &e, FloatOp op, Rounding rounding, llvm::ArrayRef<Value *> arguments) {
    const target::VectorFacts &facts = e.target.facts();
    const unsigned lanes = target::rounded_lanes(facts, Emitter::bits(arguments[0]));
    return e.by_chunks(lanes, arguments, [&](llvm::ArrayRef<Value *> pieces) {
        return target::rounded(e.ir, facts, op, direction_of(rounding), pieces);
    });
}

/// fma of the C library, in a mode: see jit/code.cpp.
Value *with_library_fma(Emitter &e, Rounding rounding, llvm::ArrayRef<Value *> arguments) {
    llvm::Type *i32 = e.ir.getInt32Ty();
    const bool single = Emitter::bits(arguments[0]) == 32;
    llvm::Type *type = arguments[0]->getType()->getScalarType();
    const llvm::FunctionCallee callee = e.module().getOrInsertFunction(
        single ? "softcuda_fmaf" : "softcuda_fma", type, type, type, type, i32);
    return e.by_chunks(1, arguments, [&](llvm::ArrayRef<Value *> pieces) {
        llvm::SmallVector<Value *, 4> all;
        for (Value *piece : pieces)
            all.push_back(e.ir.CreateExtractElement(piece, std::uint64_t{0}));
        all.push_back(e.ir.getInt32(static_cast<std::uint32_t>(direction_of(rounding))));
        llvm::CallInst *call = e.ir.CreateCall(callee, all);
        call->setDoesNotThrow();
        call->setDoesNotAccessMemory();
        return e.ir.CreateVectorSplat(1, call);
    });
}

/// fma of floats, rounded to nearest, if the processor has none: the product of two floats is exact
/// in double, the sum is rounded to odd, and double has more than the necessary 24 + 2 bits.
Value *single_fma_through_double(Emitter &e, llvm::ArrayRef<Value *> arguments) {
    llvm::Type *wide = e.float_type(arguments[0], 64);
    Value *a = e.ir.CreateFPExt(arguments[0], wide);
    Value *b = e.ir.CreateFPExt(arguments[1], wide);
    Value *c = e.ir.CreateFPExt(arguments[2], wide);
    Value *sum = add_odd(e, e.ir.CreateFMul(a, b), c);
    return e.ir.CreateFPTrunc(sum, arguments[0]->getType());
}

Value *to_nearest(Emitter &e, FloatOp op, llvm::ArrayRef<Value *> arguments) {
    switch (op) {
    case FloatOp::Add:
        return e.ir.CreateFAdd(arguments[0], arguments[1]);
    case FloatOp::Sub:
        return e.ir.CreateFSub(arguments[0], arguments[1]);
    case FloatOp::Mul:
        return e.ir.CreateFMul(arguments[0], arguments[1]);
    case FloatOp::Div:
        return e.ir.CreateFDiv(arguments[0], arguments[1]);
    case FloatOp::Sqrt:
        return e.unary(llvm::Intrinsic::sqrt, arguments[0]);
    case FloatOp::Fma:
        break;
    }
    if (!e.target.facts().fuses && Emitter::bits(arguments[0]) == 32)
        return single_fma_through_double(e, arguments);
    return e.ternary(llvm::Intrinsic::fma, arguments[0], arguments[1], arguments[2]);
}

Value *rounded(Emitter &e, FloatOp op, Rounding rounding, llvm::ArrayRef<Value *> arguments) {
    if (!is_directed(rounding))
        return to_nearest(e, op, arguments);
    if (op == FloatOp::Fma && !e.target.facts().fuses)
        return with_library_fma(e, rounding, arguments);
    return in_direction(e, op, rounding, arguments);
}

} // namespace

bool is_directed(Rounding rounding) {
    return rounding == Rounding::Zero || rounding == Rounding::Down || rounding == Rounding::Up;
}

namespace {

/// The NaN that hardware computes from f64 operands: the first NaN of them, quieted.
Value *replace_nan(Emitter &e, Value *result, llvm::ArrayRef<Value *> operands) {
    if (Emitter::bits(result) != 64)
        return result;
    Value *nan = e.as_float(e.integer(e.as_int(result), 0xfff8'0000'0000'0000));
    for (Value *operand : llvm::reverse(operands)) {
        Value *raw = e.as_int(operand);
        Value *quiet = e.as_float(e.ir.CreateOr(raw, e.integer(raw, std::uint64_t{1} << 51)));
        nan = e.ir.CreateSelect(e.is_nan(operand), quiet, nan);
    }
    return e.ir.CreateSelect(e.is_nan(result), nan, result);
}

/// Whether LLVM replaces the operation by a copy of an operand, perhaps with the other sign:
/// x * 1, x / -1, x + -0, x - 0. The copy of a signalling NaN is a signalling NaN.
bool is_identity(FloatOp op, llvm::ArrayRef<Value *> x) {
    using namespace llvm::PatternMatch;
    const auto is_one = [](Value *v) {
        return match(v, m_SpecificFP(1)) || match(v, m_SpecificFP(-1));
    };
    switch (op) {
    case FloatOp::Add:
        return match(x[0], m_NegZeroFP()) || match(x[1], m_NegZeroFP());
    case FloatOp::Sub:
        return match(x[0], m_NegZeroFP()) || match(x[1], m_PosZeroFP());
    case FloatOp::Mul:
        return is_one(x[0]) || is_one(x[1]);
    case FloatOp::Div:
        return is_one(x[1]);
    case FloatOp::Fma:
        return (is_one(x[0]) || is_one(x[1])) && match(x[2], m_AnyZeroFP());
    case FloatOp::Sqrt:
        return false;
    }
    return false;
}

} // namespace

Value *with_hardware_nan(Emitter &e, Value *result, llvm::ArrayRef<Value *> operands) {
    // LLVM folds invalid operations on constants to a NaN without sign on every processor.
    const auto is_constant = [](const Value *operand) {
        return llvm::isa<llvm::Constant>(operand);
    };
    const bool is_right = !e.target.facts().positive_nan && !llvm::all_of(operands, is_constant);
    return is_right ? result : replace_nan(e, result, operands);
}

Value *arithmetic(Emitter &e, FloatOp op, Rounding rounding, llvm::ArrayRef<Value *> arguments) {
    Value *result = rounded(e, op, rounding, arguments);
    return is_identity(op, arguments) ? replace_nan(e, result, arguments)
                                      : with_hardware_nan(e, result, arguments);
}

Value *correct_direction(Emitter &e, Value *rounded, Value *below, Value *above,
                         Rounding rounding) {
    Value *raw = e.as_int(rounded);
    Value *negative = e.ir.CreateICmpSLT(raw, e.integer(raw, 0));
    // For magnitudes: out is away from zero, in is towards zero.
    Value *out = e.truth(raw, false), *in = out;
    if (rounding == Rounding::Up) {
        out = e.ir.CreateAnd(below, e.ir.CreateNot(negative));
        in = e.ir.CreateAnd(below, negative);
    } else if (rounding == Rounding::Down) {
        out = e.ir.CreateAnd(above, negative);
        in = e.ir.CreateAnd(above, e.ir.CreateNot(negative));
    } else if (rounding == Rounding::Zero) {
        in = e.ir.CreateSelect(negative, below, above);
    }
    raw = e.ir.CreateSelect(out, e.ir.CreateAdd(raw, e.integer(raw, 1)), raw);
    raw = e.ir.CreateSelect(in, e.ir.CreateSub(raw, e.integer(raw, 1)), raw);
    return e.ir.CreateBitCast(raw, rounded->getType());
}

Value *to_single(Emitter &e, Value *value, Rounding rounding) {
    Value *nearest = e.ir.CreateFPTrunc(value, e.float_type(value, 32));
    if (!is_directed(rounding))
        return nearest;
    Value *back = e.ir.CreateFPExt(nearest, value->getType());
    return correct_direction(e, nearest, e.ir.CreateFCmpOLT(back, value),
                             e.ir.CreateFCmpOGT(back, value), rounding);
}

Value *to_single_odd(Emitter &e, Value *value) {
    // Rounded towards zero; then the last bit is set if the result is inexact.
    Value *cut = to_single(e, value, Rounding::Zero);
    Value *lost = e.ir.CreateFCmpONE(e.ir.CreateFPExt(cut, value->getType()), value);
    Value *raw = e.as_int(cut);
    Value *odd = e.ir.CreateOr(raw, e.ir.CreateZExt(lost, raw->getType()));
    return e.ir.CreateBitCast(odd, cut->getType());
}

Value *add_odd(Emitter &e, Value *a, Value *b) {
    // The error of a sum is a float of the same format (Knuth's TwoSum), exact without overflow.
    Value *sum = e.ir.CreateFAdd(a, b);
    Value *b_part = e.ir.CreateFSub(sum, a);
    Value *a_part = e.ir.CreateFSub(sum, b_part);
    Value *error = e.ir.CreateFAdd(e.ir.CreateFSub(a, a_part), e.ir.CreateFSub(b, b_part));
    // An even last bit moves one unit towards the error. NaN (from infinities) compares false.
    Value *raw = e.as_int(sum);
    Value *zero = e.real(error, 0);
    Value *even = e.ir.CreateICmpEQ(e.ir.CreateAnd(raw, e.integer(raw, 1)), e.integer(raw, 0));
    Value *inexact = e.ir.CreateAnd(even, e.ir.CreateFCmpONE(error, zero));
    Value *outwards = e.ir.CreateICmpSGE(e.ir.CreateXor(raw, e.as_int(error)), e.integer(raw, 0));
    Value *step = e.ir.CreateSelect(outwards, e.integer(raw, 1), e.integer(raw, ~std::uint64_t{0}));
    raw = e.ir.CreateSelect(inexact, e.ir.CreateAdd(raw, step), raw);
    return e.ir.CreateBitCast(raw, sum->getType());
}

} // namespace softcuda::vector_math
