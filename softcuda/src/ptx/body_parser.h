// body_parser.h -- the statements of a function.
#pragma once

#include "ptx/context.h"
#include "ptx/function_scope.h"
#include "ptx/operand_parser.h"

namespace softcuda::ptx {

class BodyParser {
  public:
    BodyParser(Context &context, Function &function);

    /// From the `{` of the body to its `}`. Statements with errors are reported and left out.
    void parse();

  private:
    void statement();
    void open_scope();
    void directive();
    void registers();
    void location();
    void pragma();
    void named_statement();
    void named_directive(const Token &name);
    void prototype(const Token &name);
    void branch_targets(const Token &name);
    void call_targets(const Token &name);
    Guard guard();
    void instruction(const Guard &guard);
    void finish_instruction(const Token &start, std::string_view spelling, const Guard &guard);
    std::string_view join_opcode(std::string_view spelling);
    const SpellingMatch &match(const Token &start, std::string_view spelling);
    std::span<Operand> operands(const SpellingMatch &match);
    std::span<Operand> with_addresses(std::span<Operand> operands, const SpellingMatch &match);
    [[noreturn]] void report_spelling(const Token &start, std::string_view spelling,
                                      const SpellingMatch &match);

    Context &context_;
    TokenStream &tokens_;
    Function &function_;
    FunctionScope scope_;
    OperandParser operand_parser_;
    std::uint32_t line_ = no_index; ///< the .loc in force
};

} // namespace softcuda::ptx
