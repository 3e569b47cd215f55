// exchange.cpp -- common properties of the instructions of a warp.
#include "ir/exchange.h"

namespace softcuda::ir {

bool is_exchange(const Instruction &i) { return members_of(i) || i.is(Opcode::Mma); }

Value *members_of(const Instruction &i) {
    switch (i.opcode) {
    case Opcode::WarpBarrier:
    case Opcode::ElectOne:
        return i.operand(0);
    case Opcode::Vote:
    case Opcode::Match:
    case Opcode::WarpReduce:
        return i.operand(1);
    case Opcode::Shuffle:
        return i.operand(3);
    default:
        return nullptr;
    }
}

bool takes_active_lanes(const Instruction &exchange) {
    const Value *members = members_of(exchange);
    return members && members->definition && members->definition->is(Opcode::ActiveMask) &&
           members->definition->block == exchange.block;
}

bool waits_for_lanes(const Instruction &instruction) {
    return is_block_barrier(instruction) ||
           (is_exchange(instruction) && !takes_active_lanes(instruction));
}

bool are_same_exchange(const Instruction &a, const Instruction &b) {
    if (a.is(Opcode::Mma) || b.is(Opcode::Mma))
        return &a == &b;
    const Attributes &x = a.attributes, &y = b.attributes;
    return a.opcode == b.opcode && x.type == y.type && x.shuffle == y.shuffle && x.vote == y.vote &&
           x.match == y.match && x.atomic == y.atomic;
}

} // namespace softcuda::ir
