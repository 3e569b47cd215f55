// supported.cpp -- checks each instruction of a function before code generation.

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
    default:
        return {};
    }
}

} // namespace

std::optional<UnsupportedInstruction> find_unsupported(const ir::Function &function) {
    for (const ir::Block *block : function.blocks) {
        for (const ir::Instruction *i : block->instructions)
            if (std::string reason = reason_against(*i); !reason.empty())
                return UnsupportedInstruction{
                    i, reason + " is not supported by the software device yet"};
    }
    return std::nullopt;
}

} // namespace softcuda::codegen
