// function_scope.cpp -- the names of one function's body: registers, variables, labels.
#include "ptx/function_scope.h"

#include <charconv>

namespace softcuda::ptx {

namespace {

constexpr std::size_t max_nesting = 200;

/// Splits `%r12` into `%r` and 12; only for numbers in normal form (no leading zeros).
struct NumberedName {
    std::string_view stem;
    std::uint32_t number = no_index;
};

NumberedName split_number(std::string_view name) {
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        --digits;
    std::string_view number = name.substr(digits);
    NumberedName result;
    if (number.empty() || (number.size() > 1 && number.front() == '0'))
        return result;
    auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), result.number);
    if (error != std::errc{})
        return {};
    result.stem = name.substr(0, digits);
    return result;
}

} // namespace

FunctionScope::FunctionScope(Context &context, Function &function)
    : context_(context), function_(function), parents_{0}, path_{0} {
    context_.names.open();
    stems_.open(); // as deep as the names, so that scopes compare
}

FunctionScope::~FunctionScope() {
    while (path_.size() > 1)
        close();
    context_.names.close();
}

void FunctionScope::open() {
    if (nesting() == max_nesting)
        context_.tokens.fail(context_.tokens.location(), "scopes are nested deeper than " +
                                                             std::to_string(max_nesting) +
                                                             " levels");
    parents_.push_back(current());
    path_.push_back(static_cast<std::uint32_t>(parents_.size() - 1));
    context_.names.open();
    stems_.open();
}

void FunctionScope::close() {
    path_.pop_back();
    context_.names.close();
    stems_.close();
}

void FunctionScope::declare_or_report(std::string_view name, SourceLocation where,
                                      const Meaning &meaning) {
    if (name == "_")
        return;
    if (!context_.names.declare(name, meaning))
        context_.diagnostics.error(where,
                                   "`" + std::string(name) + "` is declared twice in one scope");
}

void FunctionScope::declare(const Token &name, const Meaning &meaning) {
    declare_or_report(name.text, name.location, meaning);
}

void FunctionScope::declare_parameters() {
    auto declare_list = [this](std::vector<Variable> &list, SymbolKind kind) {
        for (std::uint32_t i = 0; i < list.size(); ++i) {
            Variable &variable = list[i];
            Meaning meaning{Meaning::Kind::Symbol, {kind, i}, no_index};
            if (variable.space == Space::Reg) {
                RegisterDeclaration declaration{variable.name, variable.location, variable.type,
                                                variable.vector};
                variable.reg = add_register(variable.name, no_index, declaration, 0);
                meaning = {Meaning::Kind::Register, {}, variable.reg};
            }
            declare_or_report(variable.name, variable.location, meaning);
        }
    };
    declare_list(function_.returns, SymbolKind::Return);
    declare_list(function_.parameters, SymbolKind::Parameter);
}

std::uint32_t FunctionScope::add_register(std::string_view stem, std::uint32_t number,
                                          const RegisterDeclaration &declaration,
                                          std::uint32_t scope) {
    Register made;
    made.stem = stem;
    made.number = number;
    made.type = declaration.type;
    made.vector = declaration.vector;
    made.scope = scope;
    made.location = declaration.location;
    function_.registers.push_back(made);
    return static_cast<std::uint32_t>(function_.registers.size() - 1);
}

void FunctionScope::declare_registers(const RegisterDeclaration &declaration) {
    if (declaration.is_range) {
        ranges_.push_back({declaration, declaration.name});
        auto index = static_cast<std::uint32_t>(ranges_.size() - 1);
        if (!stems_.declare(declaration.name, {Meaning::Kind::RegisterRange, {}, index}))
            context_.diagnostics.error(declaration.location,
                                       "registers `" + std::string(declaration.name) +
                                           "<...>` are declared twice in one scope");
        return;
    }
    std::uint32_t reg = add_register(declaration.name, no_index, declaration, current());
    declare_or_report(declaration.name, declaration.location, {Meaning::Kind::Register, {}, reg});
}

void FunctionScope::declare_variable(Variable &&variable) {
    auto index = static_cast<std::uint32_t>(function_.variables.size());
    declare_or_report(variable.name, variable.location,
                      {Meaning::Kind::Symbol, {SymbolKind::Local, index}, no_index});
    function_.variables.push_back(std::move(variable));
}

std::uint32_t FunctionScope::find_in_ranges(std::string_view name, std::uint32_t from) {
    NumberedName numbered = split_number(name);
    if (numbered.number == no_index)
        return no_index;
    // `%r<2>` in an inner scope hides `%r0` and `%r1` only.
    const NameTable::Found *found =
        stems_.find_if(numbered.stem, [&](const NameTable::Found &range) {
            return numbered.number < ranges_[range.meaning.index].declaration.count;
        });
    if (found == nullptr || found->scope < from)
        return no_index;
    const Range &range = ranges_[found->meaning.index];
    std::uint32_t depth = found->scope;
    std::uint32_t reg =
        add_register(range.stem, numbered.number, range.declaration, path_[depth - 1]);
    context_.names.declare_at(depth, name, {Meaning::Kind::Register, {}, reg});
    return reg;
}

Meaning FunctionScope::find(const Token &name) {
    const NameTable::Found *found = context_.names.find(name.text);
    // A range of an inner scope hides a register of an outer one.
    if (found != nullptr && found->scope == context_.names.depth())
        return found->meaning;
    if (found == nullptr || stems_.depth() > found->scope) {
        std::uint32_t from = found == nullptr ? 0 : found->scope + 1;
        if (std::uint32_t reg = find_in_ranges(name.text, from); reg != no_index)
            return {Meaning::Kind::Register, {}, reg};
    }
    if (found == nullptr)
        report_unknown(name);
    return found->meaning;
}

std::uint32_t FunctionScope::find_register(const Token &name) {
    Meaning meaning = find(name);
    if (meaning.kind != Meaning::Kind::Register)
        context_.tokens.fail(name.location, "`" + std::string(name.text) + "` is not a register");
    return meaning.index;
}

void FunctionScope::report_unknown(const Token &name) {
    std::string text = "`" + std::string(name.text) + "` is not declared";
    NumberedName numbered = split_number(name.text);
    const NameTable::Found *range =
        numbered.number == no_index ? nullptr : stems_.find(numbered.stem);
    if (range != nullptr && ranges_[range->meaning.index].declaration.count != 0) {
        const RegisterDeclaration &declared = ranges_[range->meaning.index].declaration;
        std::string stem(numbered.stem);
        context_.tokens.fail(name.location, text,
                             "`" + stem + "<" + std::to_string(declared.count) + ">` declares `" +
                                 stem + "0` to `" + stem + std::to_string(declared.count - 1) +
                                 "`");
    }
    std::string_view near = context_.names.nearest(name.text);
    context_.tokens.fail(name.location, text,
                         near.empty() ? "" : "did you mean `" + std::string(near) + "`?");
}

void FunctionScope::declare_label(const Token &name) {
    auto index = static_cast<std::uint32_t>(function_.labels.size());
    if (!labels_.try_emplace({current(), name.text}, index).second) {
        context_.diagnostics.error(name.location, "label `" + std::string(name.text) +
                                                      "` is declared twice in one scope");
        return;
    }
    auto statement = static_cast<std::uint32_t>(function_.body.size());
    function_.labels.push_back({name.text, name.location, statement, current()});
    function_.body.push_back(LabelStatement{index});
}

void FunctionScope::refer_to_label(const Token &name, std::uint32_t *place) {
    references_.push_back({name.text, name.location, current(), place});
}

void FunctionScope::resolve_labels() {
    for (const LabelReference &reference : references_) {
        std::uint32_t scope = reference.scope;
        auto found = labels_.find({scope, reference.name});
        while (found == labels_.end() && scope != 0) {
            scope = parents_[scope];
            found = labels_.find({scope, reference.name});
        }
        if (found != labels_.end())
            *reference.place = found->second;
        else
            report_unknown_label(reference);
        if (context_.diagnostics.full())
            return;
    }
}

void FunctionScope::report_unknown_label(const LabelReference &reference) {
    Suggestion suggestion(reference.name);
    bool elsewhere = false;
    for (const Label &label : function_.labels) {
        suggestion.consider(label.name);
        elsewhere |= label.name == reference.name;
    }
    context_.diagnostics.error(reference.location,
                               "there is no label `" + std::string(reference.name) + "` " +
                                   (elsewhere ? "in a scope around this" : "in this function"),
                               elsewhere ? "" : suggestion.note());
}

} // namespace softcuda::ptx
