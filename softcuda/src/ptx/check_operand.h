// check_operand.h -- checks one operand against its rule.
#pragma once

#include "ptx/ast.h"
#include "ptx/forms.h"

#include <optional>
#include <string>

namespace softcuda::ptx {

/// The error of an operand.
struct Mismatch {
    SourceLocation location;
    std::string message;
    std::string note = {};
};

/// Checks operands of one form of one instruction.
class OperandChecker {
  public:
    OperandChecker(const Module &module, const Function &function, Opcode opcode,
                   const Modifiers &modifiers)
        : module_(module), function_(function), opcode_(opcode), modifiers_(modifiers) {}

    /// Empty if `operand` is valid. `position` is the number of the address, for cp.async, which
    /// has two.
    std::optional<Mismatch> check(const OperandRule &rule, const Operand &operand,
                                  unsigned position) const;

  private:
    using Result = std::optional<Mismatch>;

    [[nodiscard]] bool may_add(const OperandRule &rule, const Operand &operand,
                               ScalarType type) const;
    Result check_value(const OperandRule &rule, const Operand &operand, ScalarType type) const;
    Result check_register(const OperandRule &rule, const Operand &operand, ScalarType type) const;
    Result check_constant(const Operand &operand, ScalarType type) const;
    Result check_special(const Operand &operand, ScalarType type) const;
    Result check_symbol(const Operand &operand, ScalarType type) const;
    Result check_pair(const OperandRule &rule, const Operand &operand) const;
    Result check_predicate(const OperandRule &rule, const Operand &operand) const;
    Result check_address(const Operand &operand, unsigned position) const;
    Result check_vector(const OperandRule &rule, const Operand &operand) const;
    Result check_elements(const OperandRule &rule, const Operand &operand, ScalarType type) const;
    Result check_packed(const OperandRule &rule, const Operand &operand) const;
    Result check_texture(const Operand &operand) const;
    Result check_tensor(const Operand &operand) const;
    Result check_coordinates(const Operand &operand) const;
    Result check_immediate(const OperandRule &rule, const Operand &operand) const;

    unsigned count_of(const OperandRule &rule) const;
    std::string register_text(const Operand &operand) const;

    const Module &module_;
    const Function &function_;
    Opcode opcode_;
    const Modifiers &modifiers_;
};

/// Whether a register of type `actual` is allowed as an operand of type `expected`; `relaxed`: the
/// register may be wider.
bool register_fits(ScalarType actual, ScalarType expected, bool relaxed);

} // namespace softcuda::ptx
