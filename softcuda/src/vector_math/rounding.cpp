// rounding.cpp -- directed rounding that does not change the processor's mode for other code.
//
// AVX-512 has a rounding mode in each instruction. Before AVX-512, the mode is a control register
// (MXCSR): the instruction is then between two writes of that register, inside one piece of inline
// assembly, so that no other instruction can move between them. If the processor has no fma, the C
// library's is called, lane by lane.
#include "vector_math/rounding.h"

#include <array>
#include <string>

namespace softcuda::vector_math {

namespace {

using ir::Rounding;

/// MXCSR after reset: all exceptions masked, to nearest, denormals kept. The bits 13 and 14 are the
/// rounding mode.
constexpr std::uint32_t kControlDefault = 0x1f80;

struct Mode {
    unsigned immediate; ///< AVX-512's embedded rounding, exceptions suppressed
    std::uint32_t control;
};

Mode mode_of(Rounding rounding) {
    switch (rounding) {
    case Rounding::Down:
        return {9, kControlDefault | 1u << 13};
    case Rounding::Up:
        return {10, kControlDefault | 2u << 13};
    case Rounding::Zero:
        return {11, kControlDefault | 3u << 13};
    default:
        return {8, kControlDefault};
    }
}

struct Operation {
    FloatOp op;
    llvm::Intrinsic::ID single, twice; ///< AVX-512's, for floats and doubles
    const char *mnemonic;              ///< without v-, -ps and -pd
};

constexpr std::array<Operation, 6> kOperations{{
    {FloatOp::Add, llvm::Intrinsic::x86_avx512_add_ps_512, llvm::Intrinsic::x86_avx512_add_pd_512,
     "add"},
    {FloatOp::Sub, llvm::Intrinsic::x86_avx512_sub_ps_512, llvm::Intrinsic::x86_avx512_sub_pd_512,
     "sub"},
    {FloatOp::Mul, llvm::Intrinsic::x86_avx512_mul_ps_512, llvm::Intrinsic::x86_avx512_mul_pd_512,
     "mul"},
    {FloatOp::Div, llvm::Intrinsic::x86_avx512_div_ps_512, llvm::Intrinsic::x86_avx512_div_pd_512,
     "div"},
    {FloatOp::Fma, llvm::Intrinsic::x86_avx512_vfmadd_ps_512,
     llvm::Intrinsic::x86_avx512_vfmadd_pd_512, "fmadd213"},
    {FloatOp::Sqrt, llvm::Intrinsic::x86_avx512_sqrt_ps_512,
     llvm::Intrinsic::x86_avx512_sqrt_pd_512, "sqrt"},
}};

const Operation &row(FloatOp op) { return kOperations[static_cast<std::size_t>(op)]; }

Value *with_embedded_rounding(Emitter &e, FloatOp op, Rounding rounding,
                              llvm::ArrayRef<Value *> arguments) {
    const bool single = Emitter::bits(arguments[0]) == 32;
    return e.by_chunks(single ? 16 : 8, arguments, [&](llvm::ArrayRef<Value *> pieces) {
        llvm::SmallVector<Value *, 4> all(pieces.begin(), pieces.end());
        all.push_back(e.ir.getInt32(mode_of(rounding).immediate));
        return e.call(single ? row(op).single : row(op).twice, all);
    });
}

/// A constant in memory: MXCSR can only be loaded from there.
llvm::GlobalVariable *control_word(Emitter &e, std::uint32_t value) {
    const std::string name = "mxcsr." + std::to_string(value);
    if (llvm::GlobalVariable *known = e.module().getGlobalVariable(name, /*AllowInternal=*/true))
        return known;
    return new llvm::GlobalVariable(e.module(), e.ir.getInt32Ty(), /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage, e.ir.getInt32(value), name);
}

/// The assembly of one operation on whole registers; $0 is the result, the last two operands are
/// the control words.
struct Assembly {
    std::string text, constraints;
};

Assembly assembly_of(FloatOp op, bool single, bool vex) {
    std::string name = vex ? "v" : "";
    name.append(row(op).mnemonic).append(single ? "ps" : "pd");
    const auto between = [](const std::string &instruction, int modes) {
        return "ldmxcsr $" + std::to_string(modes) + "\n\t" + instruction + "\n\tldmxcsr $" +
               std::to_string(modes + 1);
    };
    const std::string tail = ",*m,*m,~{dirflag},~{fpsr},~{flags}";
    if (op == FloatOp::Sqrt)
        return {between(name + " $1, $0", 2), "=x,x" + tail};
    if (op == FloatOp::Fma) // 213: second * first + third
        return {between(name + " $3, $2, $0", 4), "=x,0,x,x" + tail};
    if (vex)
        return {between(name + " $2, $1, $0", 3), "=x,x,x" + tail};
    return {between(name + " $2, $0", 3), "=x,0,x" + tail};
}

Value *with_control_register(Emitter &e, FloatOp op, Rounding rounding,
                             llvm::ArrayRef<Value *> arguments) {
    const bool single = Emitter::bits(arguments[0]) == 32;
    const bool vex = e.target.has_avx2();
    const unsigned width = (vex ? 256 : 128) / (single ? 32 : 64);
    const Assembly assembly = assembly_of(op, single, vex);
    return e.by_chunks(width, arguments, [&](llvm::ArrayRef<Value *> pieces) -> Value * {
        llvm::SmallVector<Value *, 6> all(pieces.begin(), pieces.end());
        all.push_back(control_word(e, mode_of(rounding).control));
        all.push_back(control_word(e, kControlDefault));
        llvm::SmallVector<llvm::Type *, 6> types;
        for (Value *value : all)
            types.push_back(value->getType());
        auto *type = llvm::FunctionType::get(pieces[0]->getType(), types, false);
        llvm::CallInst *call =
            e.ir.CreateCall(llvm::InlineAsm::get(type, assembly.text, assembly.constraints,
                                                 /*hasSideEffects=*/false),
                            all);
        for (unsigned i = 0; i < 2; ++i)
            call->addParamAttr(static_cast<unsigned>(pieces.size()) + i,
                               llvm::Attribute::get(e.ir.getContext(), llvm::Attribute::ElementType,
                                                    e.ir.getInt32Ty()));
        call->setDoesNotThrow();
        return call;
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
        all.push_back(e.ir.getInt32(mode_of(rounding).control));
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
    if (!e.target.has_fma() && Emitter::bits(arguments[0]) == 32)
        return single_fma_through_double(e, arguments);
    return e.ternary(llvm::Intrinsic::fma, arguments[0], arguments[1], arguments[2]);
}

} // namespace

bool is_directed(Rounding rounding) {
    return rounding == Rounding::Zero || rounding == Rounding::Down || rounding == Rounding::Up;
}

Value *arithmetic(Emitter &e, FloatOp op, Rounding rounding, llvm::ArrayRef<Value *> arguments) {
    if (!is_directed(rounding))
        return to_nearest(e, op, arguments);
    if (e.target.has_avx512())
        return with_embedded_rounding(e, op, rounding, arguments);
    if (op == FloatOp::Fma && !e.target.has_fma())
        return with_library_fma(e, rounding, arguments);
    return with_control_register(e, op, rounding, arguments);
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
