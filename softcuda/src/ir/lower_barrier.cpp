// lower_barrier.cpp -- barriers of the thread block, and fences.
#include "ir/lower_families.h"

#include "support/runtime_operation.h"

namespace softcuda::ir {

namespace {

/// The number of a barrier. One in a register cannot be that of the cluster's barrier.
Value *barrier_number(FunctionLowering &f, const ptx::Operand &operand) {
    Value *number = f.read(operand, Scalar::U32);
    if (number->constant)
        return number;
    return f.emit(Opcode::Min, Scalar::U32,
                  {number, f.constant(Type::I32, kClusterArriveRelaxed - 1)});
}

void wait(FunctionLowering &f, const ptx::Instruction &i, Opcode opcode) {
    std::vector<Value *> operands;
    for (const ptx::Operand &operand : i.operands)
        operands.push_back(operands.empty() ? barrier_number(f, operand)
                                            : f.read(operand, Scalar::U32));
    Attributes a;
    a.apart = !i.modifiers.aligned;
    f.builder().append(opcode, a, operands);
}

/// bar.red.popc.u32 d, a{, b}, {!}c;  bar.red.and.pred p, a{, b}, {!}c.
void reduce_block(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.reduction = i.modifiers.operation == ptx::Operation::Or    ? BarrierReduction::Or
                  : i.modifiers.operation == ptx::Operation::And ? BarrierReduction::And
                                                                 : BarrierReduction::Count;
    a.apart = !i.modifiers.aligned;
    std::size_t last = i.operands.size() - 1;
    std::vector<Value *> operands{f.read(i.operand(last), Scalar::Pred)};
    for (std::size_t n = 1; n < last; n++)
        operands.push_back(n == 1 ? barrier_number(f, i.operand(n))
                                  : f.read(i.operand(n), Scalar::U32));
    bool counts = a.reduction == BarrierReduction::Count;
    f.write(i.operand(0), f.builder().append(Opcode::BarrierReduce, a, operands)->result(),
            counts ? Scalar::U32 : Scalar::Pred);
}

void fence(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.order = order(i.modifiers.order);
    if (i.opcode == ptx::Opcode::Membar)
        a.order = Order::Sequential;
    else if (a.order == Order::Weak)
        a.order = Order::AcquireRelease;
    a.scope = scope(i.modifiers.scope);
    f.builder().append(Opcode::Fence, a, {});
}

} // namespace

void lower_barrier(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::BarSync:
        return wait(f, i, Opcode::Barrier);
    case ptx::Opcode::BarArrive:
        return wait(f, i, Opcode::BarrierArrive);
    case ptx::Opcode::BarRed:
        return reduce_block(f, i);
    default:
        return fence(f, i);
    }
}

} // namespace softcuda::ir
