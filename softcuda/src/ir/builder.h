// builder.h -- appends instructions to a basic block.
#pragma once

#include "ir/ir.h"

#include <initializer_list>
#include <span>

namespace softcuda::ir {

/// Writes one function, instruction after instruction. Result classes follow from opcode and
/// attributes; otherwise they are passed in `types`.
class Builder {
  public:
    explicit Builder(Function &function) : function_(function) {}

    [[nodiscard]] Function &function() const { return function_; }
    [[nodiscard]] Block *block() const { return block_; }
    void set_block(Block *block) { block_ = block; }
    /// The location of the instructions that follow.
    void set_location(const Location &location) { location_ = location; }

    Instruction *append(Opcode opcode, const Attributes &attributes,
                        std::span<Value *const> operands, std::span<const Type> types = {});
    Instruction *append(Opcode opcode, const Attributes &attributes,
                        std::initializer_list<Value *> operands) {
        return append(opcode, attributes, std::span(operands.begin(), operands.size()));
    }
    /// An operation with one result.
    Value *emit(Opcode opcode, const Attributes &attributes,
                std::initializer_list<Value *> operands) {
        return append(opcode, attributes, operands)->result();
    }
    /// As above, with the type as the only attribute.
    Value *emit(Opcode opcode, Scalar type, std::initializer_list<Value *> operands);

    Value *constant(Type type, std::uint64_t bits) { return function_.constant(type, bits); }
    Value *compare(Compare compare, Scalar type, Value *a, Value *b);
    Value *select(Value *condition, Value *if_true, Value *if_false);
    Value *logical_not(Value *predicate);
    /// A bitcast to another class of equal width.
    Value *bitcast(Value *value, Type type);
    /// An integer of another width: truncated, zero-extended or sign-extended.
    Value *resize(Value *value, Type type, bool sign);

    Instruction *jump(Block *target);
    Instruction *branch(Value *condition, Block *if_true, Block *if_false);

  private:
    Function &function_;
    Block *block_ = nullptr;
    Location location_;
};

/// The bit type of a class: I32 and F32 -> B32.
[[nodiscard]] Scalar bit_type(Type type);
/// The integer class with this number of bits.
[[nodiscard]] Type integer_class(unsigned bits);

} // namespace softcuda::ir
