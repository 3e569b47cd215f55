// elementwise.cpp -- dispatches per-lane operations to the emitters of their families.
#include "vector_math/elementwise.h"

#include "ir/ir.h"
#include "vector_math/families.h"
#include "vector_math/small_float.h"

#include <stdexcept>
#include <string>

namespace softcuda::vector_math {

namespace {

using ir::Opcode;
using ir::Scalar;

/// An operand in the form that families.h describes, if it has the operation's `type`.
Value *typed_operand(Emitter &e, Value *value, Scalar type) {
    if (type == Scalar::F32 || type == Scalar::F64)
        return e.as_float(value);
    return e.as_int(value);
}

Value *emit_arithmetic(Emitter &e, const Operation &op) {
    if (op.type == Scalar::F32 || op.type == Scalar::F64)
        return emit_float(e, op);
    return small_format(op.type) ? emit_half(e, op) : emit_integer(e, op);
}

Value *emit_pack(Emitter &e, const ir::Instruction &instruction, llvm::ArrayRef<Value *> operands) {
    const unsigned whole = ir::bits(instruction.result()->type);
    Value *result = nullptr;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        Value *raw = e.as_int(operands[i]);
        const unsigned part = Emitter::bits(raw);
        Value *placed = e.ir.CreateShl(e.resize(raw, whole), part * i);
        result = result ? e.ir.CreateOr(result, placed) : placed;
    }
    return result;
}

Results emit_unpack(Emitter &e, const ir::Instruction &instruction, Value *value) {
    Results results;
    Value *raw = e.as_int(value);
    for (std::size_t i = 0; i < instruction.results.size(); ++i) {
        const unsigned part = ir::bits(instruction.result(i)->type);
        results.push_back(e.resize(e.ir.CreateLShr(raw, part * i), part));
    }
    return results;
}

/// An operation on the elements of a packed type: on twice as many lanes.
Value *emit_packed(Emitter &e, const Operation &op, Scalar element) {
    const unsigned lanes = Emitter::lanes(op.operands[0]);
    llvm::SmallVector<Value *, 4> parts;
    for (Value *operand : op.operands)
        parts.push_back(typed_operand(e, e.split_lanes(operand, ir::bits(element)), element));
    Value *result = emit_arithmetic(e, {op.opcode, element, op.attributes, parts, 0});
    return e.join_lanes(result, lanes, ir::bits(op.type));
}

Results emit_family(Emitter &e, const Operation &op, const ir::Instruction &instruction) {
    const auto &operands = op.operands;
    switch (op.opcode) {
    case Opcode::AddCarry:
    case Opcode::SubBorrow:
        return emit_carry(e, op);
    case Opcode::Unpack:
        return emit_unpack(e, instruction, operands[0]);
    case Opcode::Pack:
        return {emit_pack(e, instruction, operands)};
    case Opcode::Bitcast:
        return {operands[0]};
    case Opcode::Select:
        return {e.ir.CreateSelect(operands[0], operands[1], operands[2])};
    case Opcode::Compare:
        return {emit_compare(e, op)};
    case Opcode::Convert:
        return {emit_convert(e, op)};
    case Opcode::ConvertPair:
        return {emit_convert_pair(e, op)};
    case Opcode::ConvertPack:
        return {emit_convert_pack(e, op)};
    default:
        break;
    }
    if (const Scalar element = ir::packed_element(op.type); element != Scalar::None)
        return {emit_packed(e, op, element)};
    const bool logic = (op.opcode >= Opcode::Popc && op.opcode <= Opcode::Szext) ||
                       (op.opcode >= Opcode::And && op.opcode <= Opcode::Prmt);
    return {logic ? emit_logic(e, op) : emit_arithmetic(e, op)};
}

/// The operands in the form that families.h describes.
llvm::SmallVector<Value *, 4> typed_operands(Emitter &e, const ir::Instruction &instruction,
                                             std::span<Value *const> operands,
                                             std::uint32_t new_nans) {
    const ir::Attributes &attributes = instruction.attributes;
    const std::string_view signature = ir::info(instruction.opcode).signature;
    llvm::SmallVector<Value *, 4> typed;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const char letter = i < signature.size() ? signature[i] : '*';
        const Scalar scalar = letter == 's'   ? attributes.source_type
                              : letter == 'i' ? Scalar::B32
                                              : attributes.type;
        // A predicate, and select's choices, are used unchanged.
        const bool as_is = letter == 'p' || instruction.is(Opcode::Select);
        const bool as_float = scalar == Scalar::F32 || scalar == Scalar::F64;
        const bool moves_bits = letter == 'x' || letter == '*';
        Value *value = operands[i];
        if (!as_is && (moves_bits || !as_float) && (new_nans >> i & 1) != 0)
            value = canonicalize_nan(e.ir, value);
        typed.push_back(as_is || moves_bits ? value : typed_operand(e, value, scalar));
    }
    return typed;
}

/// A result in its register class; a narrower one (cvt.u8) is sign-extended.
Value *as_result(Emitter &e, Value *value, ir::Type type, Scalar scalar) {
    if (Emitter::bits(value) < ir::bits(type)) {
        const auto sign = ir::is_signed(scalar) ? Emitter::Sign::Signed : Emitter::Sign::Unsigned;
        value = e.resize(e.as_int(value), ir::bits(type), sign);
    }
    return e.as_class(value, type);
}

} // namespace

bool is_elementwise(Opcode opcode) {
    return opcode >= Opcode::Add && opcode <= Opcode::ConvertPack;
}

void refuse(const Operation &op, const char *why) {
    throw std::runtime_error(std::string(ir::info(op.opcode).name) + "." +
                             std::string(ir::text(op.type)) + " is not supported: " + why);
}

void emit_elementwise(llvm::IRBuilderBase &builder, const jit::Target &target,
                      const ir::Instruction &instruction, std::span<Value *const> operands,
                      const OperandFacts &facts, std::vector<Value *> &results) {
    Emitter e(builder, target);
    const ir::Attributes &attributes = instruction.attributes;
    const auto typed = typed_operands(e, instruction, operands, facts.new_nan);
    const Operation op{instruction.opcode, attributes.type, attributes, typed,
                       facts.never_denormal};
    const Results values = emit_family(e, op, instruction);
    for (std::size_t i = 0; i < values.size(); ++i)
        results.push_back(as_result(e, values[i], instruction.result(i)->type, attributes.type));
}

llvm::Value *canonicalize_nan(llvm::IRBuilderBase &builder, llvm::Value *value) {
    llvm::Type *type = value->getType();
    if (!type->getScalarType()->isFloatTy())
        return value;
    llvm::Type *word = llvm::Type::getInt32Ty(type->getContext());
    if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
        word = llvm::FixedVectorType::get(word, vector->getNumElements());
    llvm::Value *nan =
        llvm::ConstantExpr::getBitCast(llvm::ConstantInt::get(word, 0x7fff'ffff), type);
    return builder.CreateSelect(builder.CreateFCmpUNO(value, value), nan, value);
}

} // namespace softcuda::vector_math
