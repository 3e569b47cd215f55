// value_facts.cpp -- looks through phis, selects and shuffles at the operations that a float comes
// from.
#include "codegen/value_facts.h"

#include <algorithm>
#include <span>
#include <vector>

namespace softcuda::codegen {

namespace {

using ir::Opcode;
using ir::Scalar;
using ir::Value;

/// After so many values the answer is the cautious one.
constexpr std::size_t kMostSources = 16;

/// The operands of which its result is a copy, in each lane of one of them.
std::span<Value *const> copied_operands(const ir::Instruction *from) {
    if (!from)
        return {};
    switch (from->opcode) {
    case Opcode::Phi:
        return from->operands;
    case Opcode::Select:
        return std::span(from->operands).subspan(1);
    case Opcode::Shuffle:
        return std::span(from->operands).first(1);
    default:
        return {};
    }
}

/// True if `holds` for every value that `start` may be a copy of.
template <typename Predicate> bool holds_for_sources(const Value &start, Predicate holds) {
    std::vector<const Value *> sources{&start};
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const ir::Instruction *from = sources[i]->definition;
        const std::span<Value *const> copied = copied_operands(from);
        if (copied.empty() && !holds(*sources[i]))
            return false;
        for (const Value *operand : copied)
            if (std::ranges::find(sources, operand) == sources.end())
                sources.push_back(operand);
        if (sources.size() > kMostSources)
            return false;
    }
    return true;
}

/// Arithmetic, whose NaNs are made and whose results .ftz flushes.
bool is_float_arithmetic(const ir::Instruction &instruction) {
    if (!ir::is_floating(instruction.attributes.type))
        return false;
    switch (instruction.opcode) {
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Mul:
    case Opcode::Div:
    case Opcode::Abs:
    case Opcode::Neg:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Fma:
    case Opcode::Sqrt:
    case Opcode::Rcp:
    case Opcode::Rsqrt:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Lg2:
    case Opcode::Ex2:
    case Opcode::Tanh:
    case Opcode::Convert:
        return true;
    default:
        return false;
    }
}

/// cvt.f32.f32 that rounds nothing is a move, and so is cvt.f32.bf16.
bool is_copy(const ir::Instruction &from) {
    const ir::Attributes &a = from.attributes;
    const bool same = a.type == a.source_type || a.source_type == Scalar::BF16;
    return from.is(Opcode::Convert) && same && !a.ftz && !a.saturate && !a.relu &&
           a.rounding == ir::Rounding::None;
}

bool source_is_never_denormal(const Value &value) {
    if (value.constant)
        return (value.bits & 0x7f80'0000) != 0 || (value.bits & 0x007f'ffff) == 0;
    const ir::Instruction *from = value.definition;
    if (!from || from->attributes.type != Scalar::F32 || !is_float_arithmetic(*from))
        return false;
    if (from->attributes.ftz)
        return true;
    // Integers and f16's denormals are normal floats.
    const Scalar source = from->attributes.source_type;
    return from->is(Opcode::Convert) && (!ir::is_floating(source) || source == Scalar::F16);
}

} // namespace

bool is_never_denormal(const Value &value) {
    return holds_for_sources(value, source_is_never_denormal);
}

bool may_be_new_nan(const Value &value) {
    return !holds_for_sources(value, [](const Value &source) {
        const ir::Instruction *from = source.definition;
        // From f64, cvt keeps what fits of a NaN, as x86 does.
        return !from || !is_float_arithmetic(*from) || is_copy(*from) ||
               (from->is(Opcode::Convert) && from->attributes.source_type == Scalar::F64);
    });
}

} // namespace softcuda::codegen
