// lower_atomic.cpp -- atom and red.
#include "ir/lower_families.h"

namespace softcuda::ir {

namespace {

bool known_type(Scalar type, AtomicOp op) {
    switch (type) {
    case Scalar::None:
    case Scalar::F32x2:
        return false;
    case Scalar::F32:
    case Scalar::F64:
        return op == AtomicOp::Add || op == AtomicOp::Exchange || op == AtomicOp::CompareSwap;
    default:
        return true;
    }
}

/// A vector's elements (PTX 8.1) are each atomic by themselves, in no order.
void on_elements(FunctionLowering &f, const ptx::Instruction &i, Attributes a) {
    const bool returns = i.opcode == ptx::Opcode::Atom;
    const std::size_t first = returns ? 1 : 0;
    const Address address = f.address(i.operand(first), a.space);
    const auto &sources = i.operand(first + 1).elements;
    std::vector<Value *> values, old(sources.size());
    for (const ptx::Operand &source : sources)
        values.push_back(f.read(source, a.type));
    for (std::size_t n = 0; n < values.size(); n++) {
        a.offset = address.offset + static_cast<std::int64_t>(n * bits(a.type) / 8);
        Instruction *made = f.builder().append(returns ? Opcode::Atomic : Opcode::Reduce, a,
                                               {address.base, values[n]});
        old[n] = returns ? made->result() : nullptr;
    }
    if (!returns || !i.operand(0).is(ptx::OperandKind::Vector))
        return;
    const auto &destinations = i.operand(0).elements;
    for (std::size_t n = 0; n < destinations.size(); n++)
        if (destinations[n].is(ptx::OperandKind::Register))
            f.write(destinations[n], old[n], a.type);
}

} // namespace

void lower_atomic(FunctionLowering &f, const ptx::Instruction &i) {
    bool returns = i.opcode == ptx::Opcode::Atom;
    std::optional<AtomicOp> op = atomic_op(i.modifiers.operation);
    Attributes a;
    a.type = scalar(i.modifiers.type());
    if (!op || !known_type(a.type, *op))
        return f.unsupported(i);
    a.atomic = *op;
    a.space = space(i.modifiers.space);
    a.order = order(i.modifiers.order);
    if (a.order == Order::Weak)
        a.order = Order::Relaxed; // the default of atom and red
    a.scope = i.modifiers.scope == ptx::Scope::None ? Scope::Device : scope(i.modifiers.scope);
    // Only in shared memory does a sum of floats keep denormals.
    a.ftz = a.type == Scalar::F32 && a.atomic == AtomicOp::Add && a.space == Space::Global;
    if (i.modifiers.vector_width() != 1)
        return on_elements(f, i, a);

    std::size_t first = returns ? 1 : 0;
    Address address = memory_address(f, i.operand(first), i.modifiers.space, a.space);
    a.offset = address.offset;
    std::vector<Value *> operands{address.base};
    std::size_t values = a.atomic == AtomicOp::CompareSwap ? 2 : 1;
    for (std::size_t n = 0; n < values; n++)
        operands.push_back(f.read(i.operand(first + 1 + n), a.type));
    bool wanted = returns && i.operand(0).is(ptx::OperandKind::Register);
    bool swaps = a.atomic == AtomicOp::CompareSwap || a.atomic == AtomicOp::Exchange;
    if (!wanted && !swaps) {
        f.builder().append(Opcode::Reduce, a, operands);
        return;
    }
    Instruction *atomic = f.builder().append(Opcode::Atomic, a, operands);
    if (wanted)
        f.write(i.operand(0), atomic->result(), a.type);
}

} // namespace softcuda::ir
