// lower_move.cpp -- mov, and addresses between spaces.
#include "ir/lower_families.h"

#include <algorithm>

namespace softcuda::ir {

namespace {

/// True if all registers of a vector are floating-point ones of this width.
bool all_float(FunctionLowering &f, const ptx::Operand &vector) {
    return std::all_of(vector.elements.begin(), vector.elements.end(), [&](const auto &element) {
        std::optional<Type> type = f.register_class(element);
        return !type || is_float(*type);
    });
}

void pack(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    const ptx::Operand &source = i.operand(1);
    Type piece = integer_class(bits(type) / static_cast<unsigned>(source.elements.size()));
    std::vector<Value *> pieces;
    for (const ptx::Operand &element : source.elements)
        pieces.push_back(f.read(element, bit_type(piece)));
    Attributes a;
    a.type = bit_type(f.register_class(i.operand(0)).value_or(register_class(type)));
    f.write(i.operand(0), f.builder().append(Opcode::Pack, a, pieces)->result(), type);
}

void unpack(FunctionLowering &f, const ptx::Instruction &i) {
    Scalar type = scalar(i.modifiers.type());
    const ptx::Operand &destination = i.operand(0);
    std::size_t count = destination.elements.size();
    unsigned width = bits(type) / static_cast<unsigned>(count);
    Attributes a;
    a.type = bit_type(integer_class(width));
    if (width >= 32 && all_float(f, destination))
        a.type = width == 32 ? Scalar::F32 : Scalar::F64;
    a.vector = static_cast<std::uint8_t>(count);
    Instruction *pieces = f.builder().append(Opcode::Unpack, a, {f.read(i.operand(1), type)});
    for (std::size_t n = 0; n < count; n++)
        f.write(destination.elements[n], pieces->result(n), a.type);
}

void move(FunctionLowering &f, const ptx::Instruction &i) {
    bool from_vector = i.operand(1).is(ptx::OperandKind::Vector);
    bool to_vector = i.operand(0).is(ptx::OperandKind::Vector);
    if (from_vector && to_vector) {
        Scalar type = scalar(i.modifiers.type());
        std::vector<Value *> values; // all are read first: a register may be on both sides
        for (const ptx::Operand &source : i.operand(1).elements)
            values.push_back(f.read(source, type));
        for (std::size_t n = 0; n < values.size(); n++)
            f.write(i.operand(0).elements[n], values[n], type);
        return;
    }
    if (from_vector)
        return pack(f, i);
    if (to_vector)
        return unpack(f, i);
    Scalar type = scalar(i.modifiers.type());
    f.write(i.operand(0), f.read(i.operand(1), type), type);
}

void between_spaces(FunctionLowering &f, const ptx::Instruction &i) {
    Attributes a;
    a.space = space(i.modifiers.space);
    Value *address = f.read(i.operand(1), Scalar::B64);
    if (i.modifiers.space == ptx::Space::SharedCluster)
        return f.write(i.operand(0),
                       i.opcode == ptx::Opcode::Cvta ? from_cluster(f, address)
                                                     : to_cluster(f, address),
                       Scalar::U64);
    if (i.operand(1).symbol && f.is_slot(i.operand(1).symbol))
        a.space = Space::Local; // cvta.param of a call's parameter, which was moved to memory
    Opcode opcode = i.opcode == ptx::Opcode::Cvta ? Opcode::ToGeneric : Opcode::FromGeneric;
    f.write(i.operand(0), f.emit(opcode, a, {address}), Scalar::U64);
}

void ask_space(FunctionLowering &f, const ptx::Instruction &i) {
    if (i.modifiers.space == ptx::Space::SharedCluster)
        return f.write(i.operand(0), is_cluster_shared(f, f.read(i.operand(1), Scalar::B64)),
                       Scalar::Pred);
    Attributes a;
    a.space = space(i.modifiers.space);
    f.write(i.operand(0), f.emit(Opcode::IsSpace, a, {f.read(i.operand(1), Scalar::B64)}),
            Scalar::Pred);
}

} // namespace

void lower_move(FunctionLowering &f, const ptx::Instruction &i) {
    switch (i.opcode) {
    case ptx::Opcode::Mov:
        return move(f, i);
    case ptx::Opcode::Isspacep:
        return ask_space(f, i);
    case ptx::Opcode::Createpolicy: // caches look after themselves: any handle will do
        return f.write(i.operand(0), f.constant(Type::I64, 0), Scalar::B64);
    default:
        return between_spaces(f, i);
    }
}

} // namespace softcuda::ir
