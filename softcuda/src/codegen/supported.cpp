// supported.cpp -- a look at each instruction of a function, before code generation.

#include "codegen/supported.h"

namespace softcuda::codegen {

using ir::Opcode;

namespace {

std::string reason_against(const ir::Instruction &i) {
    switch (i.opcode) {
    case Opcode::CallIndirect:
        return "a call through a function pointer";
    case Opcode::FunctionAddress:
        return "taking the address of a function";
    case Opcode::Atomic:
    case Opcode::Reduce:
        return ir::bits(i.attributes.type) > 64 ? "a 128-bit atomic" : "";
    default:
        return {};
    }
}

} // namespace

namespace {

// Called functions' local memory begins at the same place for all lanes; what lanes took by alloca
// ends at different ones.
const ir::Instruction *call_above_stack(const ir::Function &function) {
    const ir::Instruction *call = nullptr;
    bool takes_memory = false;
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            takes_memory |= i->is(Opcode::Alloca);
            call = i->is(Opcode::Call) ? i : call;
        }
    return takes_memory ? call : nullptr;
}

} // namespace

std::optional<UnsupportedInstruction> find_unsupported(const ir::Function &function) {
    if (const ir::Instruction *call = call_above_stack(function))
        return UnsupportedInstruction{call,
                                      "a call of a recursive function in one that uses `alloca` is "
                                      "not supported by the software device yet"};
    for (const ir::Block *block : function.blocks) {
        for (const ir::Instruction *i : block->instructions)
            if (std::string reason = reason_against(*i); !reason.empty())
                return UnsupportedInstruction{
                    i, reason + " is not supported by the software device yet"};
    }
    return std::nullopt;
}

} // namespace softcuda::codegen
