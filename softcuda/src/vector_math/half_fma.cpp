// half_fma.cpp -- float's fma, and a bit for its rounding error.
//
// The product of two f16 is exact in float, so s = fma(a, b, c) is the exact sum rounded to 24
// bits. Rounding s to the 11 bits of f16 equals one rounding of the exact sum, unless s is halfway
// between two f16 and the exact sum is next to it:
//
//     exact sum    1.0000000000 1000000000000 01     nearer to the upper f16
//     s            1.0000000000 1000000000000        a tie: goes to the lower one
//
// So s is made even (t), and then odd by one unit towards the exact sum if that is another number:
// an odd number is never halfway, and is on the same side of every halfway number. The sign of the
// difference between the exact sum and t follows from two differences,
//
//     subtracting from the sum's larger part first:  (a b - t) + c     or     a b + (c - t)
//
// in which only the inner difference is rounded. Subtracting from the larger part is exact. In the
// other order the rounding may make it zero, but, because it is monotonic, never of the wrong sign:
// so the sign of their sum is right. Infinities and NaN in the operands give one of both here; a
// warp with any of them is computed again, by a function that handles them.
//
// Instructions that round up and down need no control register on some processors. One of two
// neighbours is odd, and the exact sum is between them; if it is a float itself, both are equal to
// it.
#include "vector_math/half_fma.h"

#include "vector_math/rounding.h"
#include "vector_math/small_float.h"

namespace softcuda::vector_math {

namespace {

/// The function that also handles infinities and NaN, on vectors like `a`.
llvm::Function *careful_function(Emitter &e, const Value *a) {
    const std::string name = "softcuda_half_fma" + std::to_string(Emitter::lanes(a));
    if (llvm::Function *known = e.module().getFunction(name))
        return known;
    llvm::Type *type = a->getType();
    auto *function =
        llvm::Function::Create(llvm::FunctionType::get(type, {type, type, type}, false),
                               llvm::Function::InternalLinkage, name, e.module());
    e.target.apply(*function);
    function->addFnAttr(llvm::Attribute::NoInline);
    function->setDoesNotThrow();
    function->setWillReturn();
    function->setDoesNotAccessMemory();
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(e.module().getContext(), "entry", function));
    Emitter inner(builder, e.target);
    Value *x[3];
    for (unsigned i = 0; i < 3; ++i)
        x[i] = widen(inner, function->getArg(i), kHalf);
    Value *sum = add_odd(inner, builder.CreateFMul(x[0], x[1]), x[2]);
    builder.CreateRet(narrow(inner, sum, kHalf, ir::Rounding::Nearest));
    return function;
}

/// The change of t: one unit away from zero or towards it, or nothing. The difference is never -0.
Value *step_towards_sum(Emitter &e, Value *t, Value *missing) {
    Value *one = e.integer(e.as_int(t), 1);
    if (e.target.facts().takes_sign) {
        const auto with_sign = [&](Value *x, Value *of) {
            return target::negate_by_sign(e.ir, x, e.as_int(of)); // 0 where `of` is
        };
        return with_sign(with_sign(one, missing), t);
    }
    Value *outwards = e.ir.CreateFMul(missing, t), *zero = e.real(t, 0);
    Value *more = e.ir.CreateSExt(e.ir.CreateFCmpOGT(outwards, zero), one->getType());
    Value *less = e.ir.CreateSExt(e.ir.CreateFCmpOLT(outwards, zero), one->getType());
    return e.ir.CreateSub(less, more);
}

/// As below, for whole registers.
Value *add_by_rounding(Emitter &e, Value *a, Value *b, Value *c) {
    const auto rounded = [&](target::Direction direction) {
        return e.as_int(
            target::rounded(e.ir, e.target.facts(), FloatOp::Fma, direction, {a, b, c}));
    };
    Value *down = rounded(target::Direction::Down), *up = rounded(target::Direction::Up);
    Value *is_odd = e.ir.CreateTrunc(down, down->getType()->getWithNewBitWidth(1));
    return e.as_float(e.ir.CreateSelect(is_odd, down, up));
}

/// Numbers that round to the same f16 as a * b + c, all floats.
Value *add_for_half(Emitter &e, Value *a, Value *b, Value *c) {
    if (e.target.facts().masks_all() &&
        Emitter::lanes(a) == target::rounded_lanes(e.target.facts(), 32))
        return add_by_rounding(e, a, b, c);
    const auto fma = [&](Value *addend) { return e.ternary(llvm::Intrinsic::fma, a, b, addend); };
    Value *raw = e.as_int(fma(c));
    raw = e.ir.CreateAnd(raw, e.integer(raw, ~std::uint64_t{1}));
    Value *t = e.as_float(raw);
    Value *missing =
        e.ir.CreateFAdd(e.ir.CreateFAdd(fma(e.ir.CreateFNeg(t)), c), fma(e.ir.CreateFSub(c, t)));
    return e.as_float(e.ir.CreateAdd(raw, step_towards_sum(e, t, missing)));
}

struct Sums {
    Value *halves;   ///< right if they are finite
    Value *infinite; ///< i1: some are infinite or NaN
};

/// One register at a time: whole warps of floats would fill all registers several times.
Sums add_in_float(Emitter &e, llvm::ArrayRef<Value *> operands) {
    Value *halves = e.by_chunks(e.target.facts().register_bits / 32, operands,
                                [&](llvm::ArrayRef<Value *> pieces) {
                                    llvm::SmallVector<Value *, 3> x;
                                    for (Value *piece : pieces)
                                        x.push_back(widen(e, piece, kHalf));
                                    Value *sum = add_for_half(e, x[0], x[1], x[2]);
                                    return e.as_int(e.ir.CreateFPTrunc(sum, e.float_type(sum, 16)));
                                });
    Value *size = e.magnitude(halves);
    Value *infinite = e.ir.CreateICmpUGE(size, e.integer(size, kHalf.overflow));
    return {halves, e.ir.CreateOrReduce(infinite)};
}

} // namespace

bool has_half_fma(const Emitter &e, const Value *a) {
    const target::VectorFacts &facts = e.target.facts();
    return facts.converts_half && facts.fuses && !facts.computes_half && Emitter::lanes(a) != 0;
}

Value *emit_half_fma(Emitter &e, Value *a, Value *b, Value *c) {
    const Sums sums = add_in_float(e, {a, b, c});
    llvm::BasicBlock *before = e.ir.GetInsertBlock();
    llvm::LLVMContext &context = e.ir.getContext();
    auto *careful = llvm::BasicBlock::Create(context, "careful", before->getParent());
    auto *added = llvm::BasicBlock::Create(context, "added", before->getParent());
    e.ir.CreateCondBr(sums.infinite, careful, added,
                      llvm::MDBuilder(context).createBranchWeights(1, 1 << 20));
    e.ir.SetInsertPoint(careful);
    Value *again = e.ir.CreateCall(careful_function(e, a), {a, b, c});
    e.ir.CreateBr(added);
    e.ir.SetInsertPoint(added);
    llvm::PHINode *result = e.ir.CreatePHI(a->getType(), 2);
    result->addIncoming(sums.halves, before);
    result->addIncoming(again, careful);
    return result;
}

} // namespace softcuda::vector_math
