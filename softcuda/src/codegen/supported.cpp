// supported.cpp -- a look at each instruction of a function, before code generation.

#include "codegen/supported.h"

namespace softcuda::codegen {

using ir::Opcode;

namespace {

bool is_whole_block_barrier(const ir::Instruction &i) {
    std::size_t id = i.is(Opcode::BarrierReduce) ? 1 : 0;
    return i.operands.size() == id + 1 && i.operand(id)->constant && i.operand(id)->bits == 0;
}

std::string reason_against(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::Call:
        return "a call of a recursive or very large function";
    case Opcode::CallIndirect:
        return "a call through a function pointer";
    case Opcode::FunctionAddress:
        return "taking the address of a function";
    case Opcode::CopyAsync:
        return "cp.async";
    case Opcode::BarrierArrive:
        return "barrier.arrive";
    case Opcode::Barrier:
    case Opcode::BarrierReduce:
        return is_whole_block_barrier(i) ? "" : "a barrier other than barrier 0 of the whole block";
    case Opcode::Atomic:
    case Opcode::Reduce:
        return ir::bits(i.attributes.type) > 64 ? "a 128-bit atomic" : "";
    default:
        return {};
    }
}

} // namespace

std::optional<UnsupportedInstruction> find_unsupported(const ir::Function &function) {
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions)
            if (std::string reason = reason_against(*i); !reason.empty())
                return UnsupportedInstruction{
                    i, reason + " is not supported by the software device yet"};
    return std::nullopt;
}

} // namespace softcuda::codegen
