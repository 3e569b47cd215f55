// builder.cpp -- appends instructions to a block.
#include "ir/builder.h"

#include <array>
#include <cassert>

namespace softcuda::ir {

namespace {

Scalar integer_scalar(unsigned bits, bool sign) {
    switch (bits) {
    case 8:
        return sign ? Scalar::S8 : Scalar::U8;
    case 16:
        return sign ? Scalar::S16 : Scalar::U16;
    case 32:
        return sign ? Scalar::S32 : Scalar::U32;
    case 64:
        return sign ? Scalar::S64 : Scalar::U64;
    default:
        return Scalar::B128;
    }
}

std::uint64_t sign_extended(std::uint64_t value, unsigned width) {
    if (width >= 64)
        return value;
    std::uint64_t sign = std::uint64_t{1} << (width - 1);
    return (value ^ sign) - sign;
}

/// How many results an instruction has whose caller names no classes. An operation that may have
/// results of any class, such as a call, then has none.
std::size_t derived_results(Opcode opcode, const Attributes &attributes) {
    const OpcodeInfo &facts = info(opcode);
    if (facts.results >= 0)
        return static_cast<std::size_t>(facts.results);
    return facts.signature.ends_with(":x*") ? 0 : attributes.vector;
}

} // namespace

Scalar bit_type(Type type) {
    switch (bits(type)) {
    case 1:
        return Scalar::Pred;
    case 8:
        return Scalar::B8;
    case 16:
        return Scalar::B16;
    case 32:
        return type == Type::F32 ? Scalar::F32 : Scalar::B32;
    case 64:
        return type == Type::F64 ? Scalar::F64 : Scalar::B64;
    default:
        return Scalar::B128;
    }
}

Type integer_class(unsigned bits) {
    switch (bits) {
    case 1:
        return Type::I1;
    case 8:
        return Type::I8;
    case 16:
        return Type::I16;
    case 32:
        return Type::I32;
    case 64:
        return Type::I64;
    default:
        return Type::I128;
    }
}

Instruction *Builder::append(Opcode opcode, const Attributes &attributes,
                             std::span<Value *const> operands, std::span<const Type> types) {
    std::vector<Type> derived;
    if (types.empty()) {
        Instruction form;
        form.opcode = opcode;
        form.attributes = attributes;
        const std::size_t count = derived_results(opcode, attributes);
        for (std::size_t i = 0; i < count; i++) {
            std::optional<Type> type = result_type(form, i);
            assert(type && "the class of a result must be known");
            derived.push_back(*type);
        }
        types = derived;
    }
    Instruction *instruction = function_.create(opcode, operands, types);
    instruction->attributes = attributes;
    instruction->location = location_;
    instruction->block = block_;
    block_->instructions.push_back(instruction);
    return instruction;
}

Value *Builder::emit(Opcode opcode, Scalar type, std::initializer_list<Value *> operands) {
    Attributes attributes;
    attributes.type = type;
    return emit(opcode, attributes, operands);
}

Value *Builder::compare(Compare compare, Scalar type, Value *a, Value *b) {
    Attributes attributes;
    attributes.type = type;
    attributes.compare = compare;
    return emit(Opcode::Compare, attributes, {a, b});
}

Value *Builder::select(Value *condition, Value *if_true, Value *if_false) {
    if (if_true == if_false)
        return if_true;
    return emit(Opcode::Select, bit_type(if_true->type),
                {condition, if_true, bitcast(if_false, if_true->type)});
}

Value *Builder::logical_not(Value *predicate) {
    return emit(Opcode::Not, Scalar::Pred, {predicate});
}

Value *Builder::bitcast(Value *value, Type type) {
    if (value->type == type)
        return value;
    if (value->constant)
        return constant(type, value->bits);
    return emit(Opcode::Bitcast, bit_type(type), {value});
}

Value *Builder::resize(Value *value, Type type, bool sign) {
    unsigned from = bits(value->type), to = bits(type);
    if (from == to)
        return value;
    if (value->constant && to <= 64)
        return constant(type, sign && to > from ? sign_extended(value->bits, from) : value->bits);
    if (from == 1) { // a predicate as a number: 0 or 1
        Value *one = constant(type, 1), *zero = constant(type, 0);
        return select(value, one, zero);
    }
    Attributes attributes;
    attributes.type = integer_scalar(to, sign);
    attributes.source_type = integer_scalar(from, sign);
    return emit(Opcode::Convert, attributes, {value});
}

Instruction *Builder::jump(Block *target) {
    Instruction *jump = append(Opcode::Jump, {}, {});
    jump->blocks = {target};
    return jump;
}

Instruction *Builder::branch(Value *condition, Block *if_true, Block *if_false) {
    Instruction *branch = append(Opcode::Branch, {}, {condition});
    branch->blocks = {if_true, if_false};
    return branch;
}

} // namespace softcuda::ir
