// fold_addresses.cpp -- moves constant parts of addresses to the offset of the access.
//
//     %2 = add.s64 %1, i64 16                         %1 = param_address [8]
//     load.global.f32 [%2 + 4]                        load.param.f32 [%1 + 4]
//  => load.global.f32 [%1 + 20]                    => load_param.f32 [12]
#include "ir/clean_up.h"

namespace softcuda::ir {

namespace {

bool is_access(const Instruction &instruction) {
    switch (instruction.opcode) {
    case Opcode::Load:
    case Opcode::Store:
    case Opcode::Atomic:
    case Opcode::Reduce:
        return true;
    default:
        return false;
    }
}

/// The constant that `sum` adds to its first operand; empty if it is another operation.
const Value *constant_addend(const Instruction *sum) {
    if (!sum || sum->result()->type != Type::I64)
        return nullptr;
    bool adds = sum->is(Opcode::Add) || sum->is(Opcode::Sub);
    return adds && sum->operand(1)->constant ? sum->operand(1) : nullptr;
}

/// Only 64-bit addresses: one of 32 bits may wrap although the sum does not.
void take_addends(Instruction &access) {
    for (;;) {
        const Instruction *sum = access.operand(0)->definition;
        const Value *addend = constant_addend(sum);
        if (!addend)
            return;
        auto bits = static_cast<std::int64_t>(addend->bits);
        std::int64_t offset = 0;
        bool overflow = sum->is(Opcode::Add)
                            ? __builtin_add_overflow(access.attributes.offset, bits, &offset)
                            : __builtin_sub_overflow(access.attributes.offset, bits, &offset);
        if (overflow)
            return;
        access.attributes.offset = offset;
        access.operands[0] = sum->operand(0);
    }
}

void read_parameter_directly(const Function &function, Instruction &load) {
    const Instruction *address = load.operand(0)->definition;
    if (!address || !address->is(Opcode::ParamAddress))
        return;
    std::int64_t offset = address->attributes.offset + load.attributes.offset;
    std::int64_t size = bits(load.attributes.type) / 8 * load.attributes.vector;
    if (offset < 0 || offset + size > std::int64_t{function.parameter_bytes})
        return;
    Attributes attributes;
    attributes.type = load.attributes.type;
    attributes.vector = load.attributes.vector;
    attributes.offset = offset;
    load.opcode = Opcode::LoadParam;
    load.attributes = attributes;
    load.operands.clear();
}

} // namespace

void fold_addresses(Function &function) {
    for (Block *block : function.blocks) {
        for (Instruction *instruction : block->instructions) {
            if (!is_access(*instruction))
                continue;
            take_addends(*instruction);
            if (instruction->is(Opcode::Load) && instruction->attributes.space == Space::Param)
                read_parameter_directly(function, *instruction);
        }
    }
}

} // namespace softcuda::ir
