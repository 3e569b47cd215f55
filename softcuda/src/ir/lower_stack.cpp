// lower_stack.cpp -- memory that is freed at the end of a function's call: alloca.
//
// The top of the stack is a variable of each thread, as if the program had a register for it. It
// starts after the local variables. After an inlined call returns, the top has its value from
// before the call.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

/// alloca.type address, bytes{, alignment}.
void allocate(FunctionLowering &f, const ptx::Instruction &i) {
    const Scalar type = scalar(i.modifiers.type());
    Attributes a;
    a.immediate = i.operands.size() > 2
                      ? static_cast<std::uint32_t>(f.read(i.operand(2), Scalar::U32)->bits)
                      : 8;
    if (a.immediate == 0 || (a.immediate & (a.immediate - 1)) != 0)
        return f.error(i, "the alignment is " + std::to_string(a.immediate) +
                              ", expected a power of two");
    Value *bytes = f.builder().resize(f.read(i.operand(1), type), Type::I64, false);
    const Instruction *made = f.builder().append(Opcode::Alloca, a, {f.stack_top(), bytes});
    f.set_stack_top(made->result(1));
    f.write(i.operand(0), f.builder().resize(made->result(0), register_class(type), false), type);
}

} // namespace

void lower_stack(FunctionLowering &f, const ptx::Instruction &i) {
    const Scalar type = scalar(i.modifiers.type());
    switch (i.opcode) {
    case ptx::Opcode::Stacksave:
        return f.write(i.operand(0), f.builder().resize(f.stack_top(), register_class(type), false),
                       type);
    case ptx::Opcode::Stackrestore:
        return f.set_stack_top(f.builder().resize(f.read(i.operand(0), type), Type::I64, false));
    default:
        return allocate(f, i);
    }
}

} // namespace softcuda::ir
