// float_bits.cpp -- floats by the operation that made them; copies have the facts of their sources.
#include "analysis/float_bits.h"

#include <span>
#include <utility>

namespace softcuda::analysis {

namespace {

using ir::Opcode;
using ir::Scalar;
using ir::Value;

/// The operands of which the instruction's result is a copy, in each lane of one of them.
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

bool is_denormal(std::uint64_t bits) {
    return (bits & 0x7f80'0000) == 0 && (bits & 0x007f'ffff) != 0;
}

/// Of a value that is not a copy.
bool makes_denormals(const Value &value) {
    if (value.constant)
        return is_denormal(value.bits);
    const ir::Instruction *from = value.definition;
    if (!from || from->attributes.type != Scalar::F32 || !is_float_arithmetic(*from))
        return true;
    if (from->attributes.ftz)
        return false;
    // Integers and f16's denormals are normal floats.
    const Scalar source = from->attributes.source_type;
    return !from->is(Opcode::Convert) || (ir::is_floating(source) && source != Scalar::F16);
}

/// Of a value that is not a copy.
bool makes_nans(const Value &value) {
    const ir::Instruction *from = value.definition;
    // From f64, cvt keeps what fits of a NaN, as x86 does.
    return from && is_float_arithmetic(*from) && !is_copy(*from) &&
           !(from->is(Opcode::Convert) && from->attributes.source_type == Scalar::F64);
}

} // namespace

FloatBits::FloatBits(const ir::Function &function) {
    const std::uint32_t count = function.value_count();
    std::vector<std::vector<const Value *>> copies(count); // by the Value::id of their source
    std::vector<const Value *> denormals, nans;            // whose copies are still to be found
    may_be_denormal_.resize(count);
    may_be_new_nan_.resize(count);
    const auto add = [](const Value *value, std::vector<bool> &found,
                        std::vector<const Value *> &work) {
        if (!found[value->id])
            work.push_back(value);
        found[value->id] = true;
    };
    const auto add_source = [&](const Value *value) {
        if (makes_denormals(*value))
            add(value, may_be_denormal_, denormals);
        if (makes_nans(*value))
            add(value, may_be_new_nan_, nans);
    };
    for (const Value *argument : function.arguments)
        add_source(argument);
    for (const ir::Block *block : function.blocks)
        for (const ir::Instruction *i : block->instructions) {
            const std::span<Value *const> copied = copied_operands(i);
            for (const Value *operand : copied) {
                copies[operand->id].push_back(i->result());
                if (operand->constant)
                    add_source(operand);
            }
            for (const Value *result : i->results)
                if (copied.empty())
                    add_source(result);
        }
    const auto spread = [&](std::vector<bool> &found, std::vector<const Value *> &work) {
        while (!work.empty()) {
            const Value *value = work.back();
            work.pop_back();
            for (const Value *copy : copies[value->id])
                add(copy, found, work);
        }
    };
    spread(may_be_denormal_, denormals);
    spread(may_be_new_nan_, nans);
}

bool FloatBits::never_denormal(const Value &value) const {
    return value.constant ? !is_denormal(value.bits) : !may_be_denormal_[value.id];
}

bool FloatBits::may_be_new_nan(const Value &value) const {
    return !value.constant && may_be_new_nan_[value.id];
}

} // namespace softcuda::analysis
