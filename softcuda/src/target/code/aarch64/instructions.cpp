// instructions.cpp -- NEON.
//
// The rounding mode is in a control register (FPCR): an instruction with another mode is between
// two writes of that register, inside one piece of inline assembly, so that no other instruction
// can move between them.
#include "target/code/instructions.h"

#include <array>
#include <cstdlib>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>

namespace softcuda::target {
namespace {

using llvm::Value;

constexpr unsigned kRegisterBits = 128;

/// FPCR's bits 22 and 23: to nearest, up, down, to zero.
std::uint64_t control_of(Direction direction) {
    constexpr std::array<std::uint64_t, 4> kModes = {0, 2, 1, 3};
    return kModes[static_cast<std::size_t>(direction)] << 22;
}

/// The text of an instruction; $0 is the result.
std::string text_of(FloatOp op, const char *form) {
    constexpr std::array kNames = {"fadd", "fsub", "fmul", "fdiv", "fmla", "fsqrt"};
    std::string text = kNames[static_cast<std::size_t>(op)];
    text.append(" $0.").append(form).append(", $1.").append(form);
    if (op != FloatOp::Sqrt)
        text.append(", $2.").append(form);
    return text;
}

[[noreturn]] Value *missing() { std::abort(); } // vector_facts.cpp says that nobody calls this

} // namespace

unsigned rounded_lanes(const VectorFacts &, unsigned bits) { return kRegisterBits / bits; }

Value *rounded(llvm::IRBuilderBase &builder, const VectorFacts &, FloatOp op, Direction direction,
               llvm::ArrayRef<Value *> operands) {
    const bool single = operands[0]->getType()->getScalarSizeInBits() == 32;
    llvm::SmallVector<Value *, 5> all(operands.begin(), operands.end());
    std::string constraints = "=&w";
    for (std::size_t i = 0; i < all.size(); ++i)
        constraints += op == FloatOp::Fma && i == 2 ? ",0" : ",w"; // the addend is the result
    constraints += ",r";
    all.push_back(builder.getInt64(control_of(direction)));
    llvm::SmallVector<llvm::Type *, 5> types;
    for (Value *value : all)
        types.push_back(value->getType());
    auto *type = llvm::FunctionType::get(operands[0]->getType(), types, false);
    const std::string mode = "$" + std::to_string(all.size());
    llvm::CallInst *call = builder.CreateCall(
        llvm::InlineAsm::get(type,
                             "msr fpcr, " + mode + "\n\t" + text_of(op, single ? "4s" : "2d") +
                                 "\n\tmsr fpcr, xzr",
                             constraints, /*hasSideEffects=*/false),
        all);
    call->setDoesNotThrow();
    return call;
}

llvm::CallInst *store_in_place(llvm::IRBuilderBase &builder, Value *value, Value *place) {
    auto *type =
        llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy(), value->getType()}, false);
    const char *text = value->getType()->isIntegerTy(64) ? "str ${1:x}, $0" : "str ${1:w}, $0";
    return builder.CreateCall(llvm::InlineAsm::get(type, text, "=*Q,r", /*hasSideEffects=*/true),
                              {place, value});
}

llvm::CallInst *call_preserving(llvm::IRBuilderBase &builder, const std::string &function,
                                llvm::ArrayRef<Value *> arguments) {
    std::string constraints;
    llvm::SmallVector<llvm::Type *, 6> types;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        constraints += "{x" + std::to_string(i) + "},";
        types.push_back(arguments[i]->getType());
    }
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
    // The linker's stubs use x16 and x17. LLVM knows x30 as a clobber by the name lr alone.
    return builder.CreateCall(llvm::InlineAsm::get(type, "bl " + function + "_preserving",
                                                   constraints + "~{x16},~{x17},~{lr},~{nzcv}",
                                                   true),
                              arguments);
}

unsigned truncated_lanes(const VectorFacts &, unsigned bits) { return kRegisterBits / bits; }
Value *truncate_to_word(llvm::IRBuilderBase &, const VectorFacts &, Value *, bool) { missing(); }
Value *estimate_reciprocal(llvm::IRBuilderBase &, Value *) { missing(); }
Value *estimate_root(llvm::IRBuilderBase &, Value *) { missing(); }
Value *scale(llvm::IRBuilderBase &, Value *, Value *) { missing(); }
Value *negate_by_sign(llvm::IRBuilderBase &, Value *, Value *) { missing(); }
Value *compress(llvm::IRBuilderBase &, Value *, Value *) { missing(); }
Value *permute_two(llvm::IRBuilderBase &, Value *, Value *, Value *) { missing(); }

} // namespace softcuda::target
