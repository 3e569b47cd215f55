// body_parser.cpp -- the statements of a function.
#include "ptx/body_parser.h"

#include "ptx/check.h"
#include "ptx/expression.h"

#include <algorithm>

namespace softcuda::ptx {

BodyParser::BodyParser(Context &context, Function &function)
    : context_(context), tokens_(context.tokens), function_(function), scope_(context, function),
      operand_parser_(context, scope_) {}

void BodyParser::parse() {
    scope_.declare_parameters();
    tokens_.expect("{");
    for (;;) {
        if (tokens_.at(TokenKind::End)) {
            context_.diagnostics.error(tokens_.location(), "the body of `" +
                                                               std::string(function_.name) +
                                                               "` has no end: expected `}`");
            return;
        }
        if (context_.diagnostics.full())
            return;
        if (tokens_.at("}")) {
            tokens_.take();
            if (scope_.nesting() == 0)
                break;
            scope_.close();
            continue;
        }
        try {
            statement();
        } catch (const ParseStopped &) {
            tokens_.skip_statement();
        }
    }
    scope_.resolve_labels();
}

void BodyParser::statement() {
    if (tokens_.at(TokenKind::Identifier))
        named_statement();
    else if (tokens_.at("@"))
        instruction(guard());
    else if (tokens_.at(TokenKind::Dotted))
        directive();
    else if (tokens_.at("{"))
        open_scope();
    else if (!tokens_.accept(";"))
        tokens_.fail_expected("a statement");
}

void BodyParser::open_scope() {
    scope_.open();
    tokens_.take();
}

void BodyParser::directive() {
    if (tokens_.at(".reg")) {
        registers();
    } else if (is_state_space(tokens_.current())) {
        parse_variables(context_, Linkage::Internal, [this](Variable &&variable) {
            scope_.declare_variable(std::move(variable));
        });
    } else if (tokens_.at(".extern")) {
        tokens_.take();
        parse_variables(context_, Linkage::Extern, [this](Variable &&variable) {
            scope_.declare_variable(std::move(variable));
        });
    } else if (tokens_.at(".loc")) {
        location();
    } else if (tokens_.at(".pragma")) {
        pragma();
    } else {
        tokens_.fail_expected("a statement");
    }
}

void BodyParser::registers() {
    parse_registers(context_, [this](const RegisterDeclaration &declaration) {
        scope_.declare_registers(declaration);
    });
}

/// `.loc 1 12 5`, `.loc 1 12 5, function_name $L_info, inlined_at 1 20 3`; no `;`.
void BodyParser::location() {
    tokens_.take();
    auto number = [this](std::string_view what) {
        return static_cast<std::uint32_t>(tokens_.expect_integer(what, TokenStream::max_u32));
    };
    LineInfo info;
    info.file = number("the number of a file");
    info.line = number("a line number");
    info.column = number("a column");
    if (tokens_.accept(",")) {
        if (!tokens_.accept("function_name"))
            tokens_.fail_expected("`function_name`");
        InlinedName name{context_.function, static_cast<std::uint32_t>(function_.lines.size()),
                         tokens_.expect(TokenKind::Identifier, "a label in .debug_str").text, 0};
        if (tokens_.accept("+"))
            name.offset = number("an offset");
        context_.inlined_names.push_back(name);
        tokens_.expect(",");
        if (!tokens_.accept("inlined_at"))
            tokens_.fail_expected("`inlined_at`");
        info.inlined = true;
        info.inlined_file = number("the number of a file");
        info.inlined_line = number("a line number");
        info.inlined_column = number("a column");
    }
    tokens_.accept(";");
    line_ = static_cast<std::uint32_t>(function_.lines.size());
    function_.lines.push_back(info);
}

void BodyParser::pragma() {
    SourceLocation where = tokens_.take().location;
    do {
        Token text = tokens_.expect(TokenKind::String, "a string");
        function_.body.push_back(PragmaStatement{text.text, where});
    } while (tokens_.accept(","));
    tokens_.expect(";");
}

/// A label or an instruction: both begin with a word.
void BodyParser::named_statement() {
    Token start = tokens_.current();
    std::string_view spelling = tokens_.take_opcode();
    if (!tokens_.at(":")) {
        finish_instruction(start, spelling, {});
        return;
    }
    if (spelling.size() != start.text.size())
        tokens_.fail(start.location, "`" + std::string(spelling) + "` is not the name of a label");
    tokens_.take();
    if (tokens_.at(".callprototype") || tokens_.at(".branchtargets") || tokens_.at(".calltargets"))
        named_directive(start);
    else
        scope_.declare_label(start);
}

void BodyParser::named_directive(const Token &name) {
    Token directive = tokens_.take();
    if (directive.is(".callprototype"))
        prototype(name);
    else if (directive.is(".branchtargets"))
        branch_targets(name);
    else
        call_targets(name);
    tokens_.expect(";");
}

/// `p: .callprototype (.param .b32 _) _ (.param .b32 _);`
void BodyParser::prototype(const Token &name) {
    CallPrototype made;
    made.name = name.text;
    made.location = name.location;
    if (tokens_.at("("))
        made.returns = parse_parameters(context_);
    tokens_.expect(TokenKind::Identifier, "`_`");
    if (tokens_.at("("))
        made.parameters = parse_parameters(context_);
    while (tokens_.at(TokenKind::Dotted)) {
        if (tokens_.accept(".noreturn"))
            made.no_return = true;
        else if (tokens_.accept(".abi_preserve") || tokens_.accept(".abi_preserve_control"))
            tokens_.expect_integer("a number of registers", TokenStream::max_u32);
        else
            tokens_.fail_expected("`;`");
    }
    auto index = static_cast<std::uint32_t>(function_.prototypes.size());
    function_.prototypes.push_back(std::move(made));
    scope_.declare(name, {Meaning::Kind::Prototype, {}, index});
}

void BodyParser::branch_targets(const Token &name) {
    TargetList list{TargetList::Kind::Labels, name.text, name.location, {}};
    std::vector<Token> labels;
    do
        labels.push_back(tokens_.expect(TokenKind::Identifier, "a label"));
    while (tokens_.accept(","));
    list.targets.resize(labels.size(), no_index);
    for (std::size_t i = 0; i < labels.size(); ++i)
        scope_.refer_to_label(labels[i], &list.targets[i]);
    auto index = static_cast<std::uint32_t>(function_.target_lists.size());
    function_.target_lists.push_back(std::move(list)); // the numbers do not move
    scope_.declare(name, {Meaning::Kind::BranchTargets, {}, index});
}

void BodyParser::call_targets(const Token &name) {
    TargetList list{TargetList::Kind::Functions, name.text, name.location, {}};
    do {
        Token target = tokens_.expect(TokenKind::Identifier, "the name of a function");
        Meaning meaning = scope_.find(target);
        if (meaning.symbol.kind != SymbolKind::Function)
            tokens_.fail(target.location, "`" + std::string(target.text) + "` is not a function");
        list.targets.push_back(meaning.symbol.index);
    } while (tokens_.accept(","));
    auto index = static_cast<std::uint32_t>(function_.target_lists.size());
    function_.target_lists.push_back(std::move(list));
    scope_.declare(name, {Meaning::Kind::CallTargets, {}, index});
}

/// `@%p1` or `@!%p1`
Guard BodyParser::guard() {
    tokens_.take();
    Guard made;
    made.negated = tokens_.accept("!");
    Token name = tokens_.expect(TokenKind::Identifier, "a predicate");
    made.reg = scope_.find_register(name);
    const Register &reg = function_.registers[made.reg];
    if (reg.type != ScalarType::Pred)
        tokens_.fail(name.location, "`" + reg.name() + "` is ." + std::string(name_of(reg.type)) +
                                        ", a guard must be .pred");
    return made;
}

void BodyParser::instruction(const Guard &guard) {
    if (!tokens_.at(TokenKind::Identifier))
        tokens_.fail_expected("an instruction");
    Token start = tokens_.current();
    std::string_view spelling = tokens_.take_opcode();
    finish_instruction(start, spelling, guard);
}

void BodyParser::finish_instruction(const Token &start, std::string_view spelling,
                                    const Guard &guard) {
    if (tokens_.at(TokenKind::Dotted))
        spelling = join_opcode(spelling);
    const SpellingMatch &found = match(start, spelling);
    Instruction made;
    made.guard = guard;
    made.location = start.location;
    made.line = line_;
    made.spelling = spelling;
    std::span<Operand> list = operands(found);
    made.operands = list;
    tokens_.expect(";");
    if (check_instruction(context_, function_, found, made))
        function_.body.push_back(made);
}

/// `ld .global .f32` is `ld.global.f32`.
std::string_view BodyParser::join_opcode(std::string_view spelling) {
    std::string joined(spelling);
    while (tokens_.at(TokenKind::Dotted))
        joined += tokens_.take().text;
    return context_.module.arena.copy(joined);
}

const SpellingMatch &BodyParser::match(const Token &start, std::string_view spelling) {
    auto [found, is_new] = context_.spellings.try_emplace(spelling);
    if (is_new)
        found->second = match_spelling(spelling);
    if (found->second.candidates.empty())
        report_spelling(start, spelling, found->second);
    return found->second;
}

void BodyParser::report_spelling(const Token &start, std::string_view spelling,
                                 const SpellingMatch &match) {
    std::string_view word = spelling.substr(0, spelling.find('.'));
    if (std::optional<std::string_view> reason = refusal_of(spelling))
        tokens_.fail(start.location,
                     "`" + std::string(spelling) + "` is not supported: " + std::string(*reason));
    if (forms_of(word).empty()) {
        Suggestion suggestion(word);
        for (const Form &form : forms())
            suggestion.consider(form.word);
        tokens_.fail(start.location, "unknown instruction `" + std::string(word) + "`",
                     suggestion.note());
    }
    SourceLocation where = start.location;
    // A spelling with blanks in it was joined, and its offsets are not the text's.
    std::string_view text = context_.diagnostics.source().text();
    if (text.substr(where.offset, spelling.size()) == spelling)
        where.offset += static_cast<std::uint32_t>(match.error_offset);
    tokens_.fail(where, match.error, match.note);
}

std::span<Operand> BodyParser::operands(const SpellingMatch &match) {
    switch (forms()[match.candidates.front().form].opcode) {
    case Opcode::Bra:
        return operand_parser_.branch_operands();
    case Opcode::BrxIdx:
        return operand_parser_.indexed_branch_operands();
    case Opcode::Call:
        return operand_parser_.call_operands();
    default:
        return with_addresses(operand_parser_.operands(), match);
    }
}

/// `ld.global.u32 %r1, a[%r2]`: an element stands for its address without brackets.
std::span<Operand> BodyParser::with_addresses(std::span<Operand> operands,
                                              const SpellingMatch &match) {
    const Form &form = forms()[match.candidates.front().form];
    std::size_t count = std::min(operands.size(), form.operands.size());
    for (std::size_t i = 0; i < count; ++i)
        if (form.operands[i].shape == OperandShape::Address && operands[i].subscripted)
            operands[i].kind = OperandKind::Address;
    for (const Operand &operand : operands)
        if (!operand.is(OperandKind::Address))
            operand_parser_.refuse_register_subscript(operand);
    return operands;
}

} // namespace softcuda::ptx
