// coordinates.cpp -- counts the operations of each value, starting from the operands.

#include "analysis/coordinates.h"

#include "ir/dominators.h"

#include <algorithm>

namespace softcuda::analysis {

namespace {

using ir::Opcode;

/// More operations would take longer than a load. Most of them are equal for all warps, and are
/// moved out of the loop over warps.
constexpr unsigned kMostOperations = 16;
constexpr unsigned kTooMany = kMostOperations + 1;

bool is_source(Opcode opcode) {
    switch (opcode) {
    case Opcode::Special:
    case Opcode::SymbolAddress:
    case Opcode::LoadParam:
    case Opcode::ParamAddress:
        return true;
    default:
        return false;
    }
}

bool is_cheap(const ir::Instruction &i) {
    if (i.results.size() != 1)
        return false;
    switch (i.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Neg:
    case Opcode::Compare:
        return !ir::is_floating(i.attributes.type);
    case Opcode::Convert:
        return !ir::is_floating(i.attributes.type) && !ir::is_floating(i.attributes.source_type);
    case Opcode::MulWide:
    case Opcode::Select:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Not:
    case Opcode::Shl:
    case Opcode::Shr:
    case Opcode::ToGeneric:
        return true;
    default:
        return false;
    }
}

} // namespace

std::vector<bool> find_coordinate_functions(const ir::Function &function) {
    std::vector<unsigned> operations(function.value_count(), kTooMany);
    for (const ir::Block *block : reverse_postorder(function))
        for (const ir::Instruction *i : block->instructions) {
            if (is_source(i->opcode)) {
                for (const ir::Value *result : i->results)
                    operations[result->id] = 0;
            } else if (is_cheap(*i)) {
                unsigned count = 1;
                for (const ir::Value *operand : i->operands)
                    count += operand->constant ? 0 : operations[operand->id];
                operations[i->result()->id] = std::min(count, kTooMany);
            }
        }
    std::vector<bool> found;
    for (unsigned count : operations)
        found.push_back(count <= kMostOperations);
    return found;
}

} // namespace softcuda::analysis
