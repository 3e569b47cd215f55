// operand_parser.h -- parses operands; check_operand.h checks them later.
#pragma once

#include "ptx/context.h"
#include "ptx/function_scope.h"

#include <span>
#include <vector>

namespace softcuda::ptx {

class OperandParser {
  public:
    OperandParser(Context &context, FunctionScope &scope)
        : tokens_(context.tokens), module_(context.module), scope_(scope) {}

    /// The operands up to the `;`, which is not consumed.
    std::span<Operand> operands();
    /// `label`; its index is set at the end of the function.
    std::span<Operand> branch_operands();
    /// `%r1, targets`
    std::span<Operand> indexed_branch_operands();
    /// `(results), callee, (arguments), prototype` -- always four.
    std::span<Operand> call_operands();
    /// Abandons the statement if the operand is `buffer[%r1]`.
    void refuse_register_subscript(const Operand &operand);

  private:
    Operand operand();
    Operand simple();
    Operand named();
    Operand with_pair(Operand first);
    Operand negated();
    Operand constant();
    Operand vector();
    Operand bracketed();
    Operand list();
    Operand name_alone();
    void component(Operand &operand, bool four_lanes);
    void selector(Operand &operand, const Token &token);
    void offset(Operand &operand);
    void subscript(Operand &operand);
    Operand whole_vector(Operand component);
    bool special_register(const Token &name, Operand &operand);
    std::span<Operand> finish(std::size_t begin);
    std::span<Operand> keep(std::size_t begin);

    TokenStream &tokens_;
    Module &module_;
    FunctionScope &scope_;
    std::vector<Operand> pending_; ///< a stack: operands whose list is not complete yet
};

} // namespace softcuda::ptx
