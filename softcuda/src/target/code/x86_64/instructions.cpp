// instructions.cpp -- SSE4, AVX2 and AVX-512.
//
// AVX-512 has a rounding mode in each instruction. Before AVX-512, the mode is a control register
// (MXCSR): the instruction is then between two writes of that register, inside one piece of inline
// assembly, so that no other instruction can move between them.
#include "target/code/instructions.h"

#include <array>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace softcuda::target {
namespace {

using llvm::Value;

unsigned bits_of(const Value *value) { return value->getType()->getScalarSizeInBits(); }

/// MXCSR after reset: all exceptions masked, to nearest, denormals kept. The bits 13 and 14 are the
/// rounding mode, in the order of Direction.
constexpr std::uint32_t kControlDefault = 0x1f80;

std::uint32_t control_of(Direction direction) {
    return kControlDefault | static_cast<std::uint32_t>(direction) << 13;
}

/// AVX-512's embedded rounding, exceptions suppressed.
std::uint32_t immediate_of(Direction direction) {
    return 8 | static_cast<std::uint32_t>(direction);
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

Value *with_embedded_rounding(llvm::IRBuilderBase &builder, FloatOp op, Direction direction,
                              llvm::ArrayRef<Value *> operands) {
    llvm::SmallVector<Value *, 4> all(operands.begin(), operands.end());
    all.push_back(builder.getInt32(immediate_of(direction)));
    return builder.CreateIntrinsic(bits_of(operands[0]) == 32 ? row(op).single : row(op).twice, {},
                                   all);
}

/// A constant in memory: MXCSR can only be loaded from there.
llvm::GlobalVariable *control_word(llvm::IRBuilderBase &builder, std::uint32_t value) {
    llvm::Module &module = *builder.GetInsertBlock()->getModule();
    const std::string name = "mxcsr." + std::to_string(value);
    if (llvm::GlobalVariable *known = module.getGlobalVariable(name, /*AllowInternal=*/true))
        return known;
    return new llvm::GlobalVariable(module, builder.getInt32Ty(), /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage, builder.getInt32(value),
                                    name);
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

Value *with_control_register(llvm::IRBuilderBase &builder, bool vex, FloatOp op,
                             Direction direction, llvm::ArrayRef<Value *> operands) {
    const Assembly assembly = assembly_of(op, bits_of(operands[0]) == 32, vex);
    llvm::SmallVector<Value *, 6> all(operands.begin(), operands.end());
    all.push_back(control_word(builder, control_of(direction)));
    all.push_back(control_word(builder, kControlDefault));
    llvm::SmallVector<llvm::Type *, 6> types;
    for (Value *value : all)
        types.push_back(value->getType());
    auto *type = llvm::FunctionType::get(operands[0]->getType(), types, false);
    llvm::CallInst *call =
        builder.CreateCall(llvm::InlineAsm::get(type, assembly.text, assembly.constraints,
                                                /*hasSideEffects=*/false),
                           all);
    for (unsigned i = 0; i < 2; ++i)
        call->addParamAttr(static_cast<unsigned>(operands.size()) + i,
                           llvm::Attribute::get(builder.getContext(), llvm::Attribute::ElementType,
                                                builder.getInt32Ty()));
    call->setDoesNotThrow();
    return call;
}

/// An AVX-512 instruction on 16 floats with (pass-through, mask) at the end of its arguments.
Value *masked_512(llvm::IRBuilderBase &builder, llvm::Intrinsic::ID id,
                  llvm::ArrayRef<Value *> arguments, llvm::ArrayRef<Value *> more = {}) {
    llvm::SmallVector<Value *, 6> all(arguments.begin(), arguments.end());
    all.push_back(llvm::PoisonValue::get(arguments[0]->getType()));
    all.push_back(builder.getInt16(0xffff));
    all.append(more.begin(), more.end());
    return builder.CreateIntrinsic(id, {}, all);
}

} // namespace

unsigned rounded_lanes(const VectorFacts &facts, unsigned bits) {
    return facts.register_bits / bits;
}

Value *rounded(llvm::IRBuilderBase &builder, const VectorFacts &facts, FloatOp op,
               Direction direction, llvm::ArrayRef<Value *> operands) {
    if (facts.masks_all())
        return with_embedded_rounding(builder, op, direction, operands);
    return with_control_register(builder, facts.register_bits > 128, op, direction, operands);
}

unsigned truncated_lanes(const VectorFacts &facts, unsigned bits) {
    return facts.register_bits / bits;
}

Value *truncate_to_word(llvm::IRBuilderBase &builder, const VectorFacts &facts, Value *value,
                        bool to_signed) {
    const bool single = bits_of(value) == 32;
    const auto call = [&](llvm::Intrinsic::ID id, llvm::ArrayRef<Value *> arguments) {
        return builder.CreateIntrinsic(id, {}, arguments);
    };
    if (!facts.masks_all())
        return call(!single                     ? llvm::Intrinsic::x86_avx_cvtt_pd2dq_256
                    : facts.register_bits > 128 ? llvm::Intrinsic::x86_avx_cvtt_ps2dq_256
                                                : llvm::Intrinsic::x86_sse2_cvttps2dq,
                    {value});
    const unsigned lanes = single ? 16 : 8;
    Value *none =
        llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder.getInt32Ty(), lanes));
    Value *all = single ? builder.getInt16(0xffff) : builder.getInt8(0xff);
    const llvm::Intrinsic::ID id = single      ? to_signed
                                                     ? llvm::Intrinsic::x86_avx512_mask_cvttps2dq_512
                                                     : llvm::Intrinsic::x86_avx512_mask_cvttps2udq_512
                                   : to_signed ? llvm::Intrinsic::x86_avx512_mask_cvttpd2dq_512
                                               : llvm::Intrinsic::x86_avx512_mask_cvttpd2udq_512;
    return call(id, {value, none, all, builder.getInt32(4)});
}

Value *estimate_reciprocal(llvm::IRBuilderBase &builder, Value *x) {
    return masked_512(builder, llvm::Intrinsic::x86_avx512_rcp14_ps_512, {x});
}

Value *estimate_root(llvm::IRBuilderBase &builder, Value *x) {
    return masked_512(builder, llvm::Intrinsic::x86_avx512_rsqrt14_ps_512, {x});
}

Value *scale(llvm::IRBuilderBase &builder, Value *x, Value *n) {
    return masked_512(builder, llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {x, n},
                      {builder.getInt32(4)});
}

Value *negate_by_sign(llvm::IRBuilderBase &builder, Value *x, Value *of) {
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx2_psign_d, {}, {x, of});
}

Value *compress(llvm::IRBuilderBase &builder, Value *part, Value *active) {
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_compress, {part->getType()},
                                   {part, llvm::PoisonValue::get(part->getType()), active});
}

Value *permute_two(llvm::IRBuilderBase &builder, Value *low, Value *high, Value *indices) {
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                   {low, indices, high});
}

llvm::CallInst *store_in_place(llvm::IRBuilderBase &builder, Value *value, Value *place) {
    auto *type =
        llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), value->getType()}, false);
    const char *text = value->getType()->isIntegerTy(64) ? "movq $1, $0" : "movl $1, $0";
    return builder.CreateCall(llvm::InlineAsm::get(type, text, "=*m,r", /*hasSideEffects=*/true),
                              {place, value});
}

// Inline assembly would do as well, but several passes of LLVM parse its constraints, and each
// piece needs an assembler of its own.
llvm::CallInst *call_preserving(llvm::IRBuilderBase &builder, const std::string &function,
                                llvm::ArrayRef<Value *> arguments) {
    llvm::SmallVector<llvm::Type *, 6> types;
    for (const Value *argument : arguments)
        types.push_back(argument->getType());
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
    llvm::Module &module = *builder.GetInsertBlock()->getModule();
    llvm::CallInst *call =
        builder.CreateCall(module.getOrInsertFunction(function + "_preserving", type), arguments);
    call->addFnAttr(llvm::Attribute::get(builder.getContext(), "no_caller_saved_registers"));
    return call;
}

} // namespace softcuda::target
