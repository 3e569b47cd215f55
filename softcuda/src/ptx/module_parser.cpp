// module_parser.cpp -- the outermost level of a PTX text.
#include "ptx/module_parser.h"

#include "ptx/body_parser.h"
#include "ptx/declaration.h"
#include "ptx/parse.h"

#include <charconv>

namespace softcuda::ptx {

namespace {

/// The number at the front of `text`, which loses it; nothing if there is none.
std::optional<unsigned> cut_number(std::string_view &text) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(end - text.data());
    return value;
}

} // namespace

std::optional<Module> parse(std::shared_ptr<const SourceText> source, Diagnostics &diagnostics) {
    Module module;
    module.source = source;
    TokenStream tokens(*source, diagnostics);
    Context context{module, tokens, diagnostics, {}, {}, no_index, {}};
    ModuleParser(context).parse();
    if (diagnostics.has_errors())
        return std::nullopt;
    return module;
}

void ModuleParser::parse() {
    bool headless = false;
    if (!tokens_.at(".version")) {
        context_.diagnostics.error(tokens_.location(), "a module begins with `.version`, got " +
                                                           describe(tokens_.current()));
        headless = true;
    }
    // Without a .version this is some other text, and all of it would be an error.
    while (!headless && !tokens_.at(TokenKind::End) && !context_.diagnostics.full()) {
        try {
            statement();
        } catch (const ParseStopped &) {
            tokens_.skip_statement();
            if (tokens_.at("}"))
                tokens_.take();
        }
    }
    if (!context_.diagnostics.has_errors())
        debug_.resolve_names();
}

void ModuleParser::statement() {
    if (tokens_.at(".version"))
        return version();
    if (tokens_.at(".target"))
        return target();
    if (tokens_.at(".address_size"))
        return address_size();
    if (tokens_.at(".file"))
        return debug_.file();
    if (tokens_.at(".section"))
        return debug_.section();
    if (tokens_.at(".pragma"))
        return pragma();
    if (tokens_.at(".alias"))
        return alias();
    if (tokens_.accept(";"))
        return;
    Linkage linkage = this->linkage();
    if (tokens_.at(".entry") || tokens_.at(".func"))
        return function(linkage);
    if (tokens_.at(".reg"))
        tokens_.fail(tokens_.location(), "registers must be declared in a function");
    if (!is_state_space(tokens_.current()))
        tokens_.fail_expected("a directive");
    parse_variables(context_, linkage,
                    [this](Variable &&variable) { declare_variable(std::move(variable)); });
}

void ModuleParser::version() {
    tokens_.take();
    Token number = tokens_.take();
    std::string_view text = number.text;
    std::optional<unsigned> major = cut_number(text);
    bool dot = !text.empty() && text.front() == '.';
    text.remove_prefix(dot);
    std::optional<unsigned> minor = cut_number(text);
    if (!major || !dot || !minor || !text.empty())
        tokens_.fail(number.location, "expected a version such as 8.0, got " + describe(number));
    module_.version_major = *major;
    module_.version_minor = *minor;
}

void ModuleParser::target() {
    tokens_.take();
    do
        target_word(tokens_.expect(TokenKind::Identifier, "a target such as sm_80"));
    while (tokens_.accept(","));
}

void ModuleParser::target_word(const Token &word) {
    std::string_view text = word.text;
    if (text.starts_with("sm_") || text.starts_with("compute_")) {
        text.remove_prefix(text.find('_') + 1);
        std::optional<unsigned> sm = cut_number(text);
        bool suffixed = text == "a" || text == "f";
        if (!sm || !(text.empty() || suffixed))
            tokens_.fail(word.location, "unknown target " + describe(word));
        module_.target.sm = *sm;
        module_.target.suffix = suffixed ? text.front() : '\0';
    } else if (text == "debug") {
        module_.target.debug = true;
    } else if (text == "texmode_independent") {
        module_.target.texmode_independent = true;
    } else if (text == "map_f64_to_f32") {
        module_.target.map_f64_to_f32 = true;
    } else if (text != "texmode_unified") {
        tokens_.fail(word.location, "unknown target " + describe(word));
    }
}

void ModuleParser::address_size() {
    tokens_.take();
    SourceLocation where = tokens_.location();
    std::uint64_t bits = tokens_.expect_integer("the address size", 64);
    if (bits != 32 && bits != 64)
        tokens_.fail(where, "address size is " + std::to_string(bits) + ", expected 32 or 64");
    module_.address_bits = static_cast<unsigned>(bits);
}

void ModuleParser::pragma() {
    tokens_.take();
    do
        module_.pragmas.push_back(tokens_.expect(TokenKind::String, "a string").text);
    while (tokens_.accept(","));
    tokens_.expect(";");
}

/// `.alias name, aliasee;`: both are functions that have been declared.
void ModuleParser::alias() {
    tokens_.take();
    auto function_index = [this] {
        Token name = tokens_.expect(TokenKind::Identifier, "the name of a function");
        const NameTable::Found *found = context_.names.find(name.text);
        if (found == nullptr || found->meaning.symbol.kind != SymbolKind::Function)
            tokens_.fail(name.location, "`" + std::string(name.text) + "` is not a function");
        return found->meaning.symbol.index;
    };
    Alias made{};
    made.name = function_index();
    tokens_.expect(",");
    made.aliasee = function_index();
    tokens_.expect(";");
    module_.aliases.push_back(made);
}

Linkage ModuleParser::linkage() {
    if (tokens_.accept(".visible"))
        return Linkage::Visible;
    if (tokens_.accept(".extern"))
        return Linkage::Extern;
    if (tokens_.accept(".weak"))
        return Linkage::Weak;
    if (tokens_.accept(".common"))
        return Linkage::Common;
    return Linkage::Internal;
}

// ---- variables ------------------------------------------------------------------------------

void ModuleParser::declare_variable(Variable &&variable) {
    if (variable.space == Space::Param || variable.space == Space::Local)
        tokens_.fail(variable.location,
                     "variables of this state space must be declared in a function");
    auto index = static_cast<std::uint32_t>(module_.variables.size());
    Meaning meaning{Meaning::Kind::Symbol, {SymbolKind::Global, index}, no_index};
    if (context_.names.declare(variable.name, meaning))
        module_.variables.push_back(std::move(variable));
    else if (!redeclares(variable))
        tokens_.fail(variable.location, "`" + std::string(variable.name) + "` is declared twice");
}

/// An .extern declaration and a definition of one variable may stand in either order; so may weak
/// and common ones of the same shape. The definition stays.
bool ModuleParser::redeclares(const Variable &variable) {
    const NameTable::Found *found = context_.names.find(variable.name);
    if (found->meaning.symbol.kind != SymbolKind::Global)
        return false;
    Variable &known = module_.variables[found->meaning.symbol.index];
    bool same = known.space == variable.space && known.type == variable.type &&
                known.vector == variable.vector;
    if (!same)
        return false;
    if (known.linkage == Linkage::Extern) {
        known = variable;
        return true;
    }
    return variable.linkage == Linkage::Extern || variable.linkage == Linkage::Weak ||
           variable.linkage == Linkage::Common;
}

// ---- functions ------------------------------------------------------------------------------

void ModuleParser::function(Linkage linkage) {
    Function made = header(linkage);
    if (tokens_.accept(";")) {
        declare_function(made, false);
        return;
    }
    if (!tokens_.at("{"))
        tokens_.fail_expected("`{` or `;`");
    std::uint32_t index = declare_function(made, true);
    context_.function = index;
    made.has_body = true;
    BodyParser(context_, made).parse();
    module_.functions[index] = std::move(made);
}

Function ModuleParser::header(Linkage linkage) {
    Function made;
    made.linkage = linkage;
    made.kind = tokens_.take().is(".entry") ? FunctionKind::Entry : FunctionKind::Device;
    performance_directives(made);
    if (tokens_.at("(")) {
        if (made.is_entry())
            tokens_.fail(tokens_.location(), "a kernel has no results");
        made.returns = parse_parameters(context_);
    }
    Token name = tokens_.expect(TokenKind::Identifier, "the name of a function");
    made.name = name.text;
    made.location = name.location;
    if (tokens_.at("("))
        made.parameters = parse_parameters(context_);
    performance_directives(made);
    return made;
}

void ModuleParser::performance_directives(Function &function) {
    while (tokens_.at(TokenKind::Dotted))
        if (!performance_directive(function))
            tokens_.fail_expected("`{` or `;`");
}

bool ModuleParser::performance_directive(Function &function) {
    auto number = [this](std::string_view what) {
        return static_cast<std::uint32_t>(tokens_.expect_integer(what, TokenStream::max_u32));
    };
    if (tokens_.accept(".maxntid")) {
        function.max_threads = extent();
    } else if (tokens_.accept(".reqntid")) {
        function.required_threads = extent();
    } else if (tokens_.accept(".minnctapersm") || tokens_.accept(".maxnctapersm")) {
        function.min_blocks_per_sm = number("a number of blocks");
    } else if (tokens_.accept(".maxnreg")) {
        function.max_registers = number("a number of registers");
    } else if (tokens_.accept(".noreturn")) {
        function.no_return = true;
    } else if (tokens_.accept(".abi_preserve") || tokens_.accept(".abi_preserve_control")) {
        number("a number of registers");
    } else if (tokens_.at(".reqnctapercluster") || tokens_.at(".explicitcluster") ||
               tokens_.at(".maxclusterrank") || tokens_.at(".blocksareclusters")) {
        cluster_directive(function);
    } else if (tokens_.accept(".attribute")) {
        tokens_.expect("(");
        while (!tokens_.at(")") && !tokens_.at(TokenKind::End))
            tokens_.take(); // .unified(a, b): an identity for tools
        tokens_.expect(")");
    } else if (tokens_.accept(".pragma")) {
        do
            function.pragmas.push_back(tokens_.expect(TokenKind::String, "a string").text);
        while (tokens_.accept(","));
        tokens_.expect(";");
    } else {
        return false;
    }
    return true;
}

void ModuleParser::cluster_directive(Function &function) {
    const std::string name = describe(tokens_.current());
    if (module_.target.sm != 0 && module_.target.sm < 90)
        tokens_.fail(tokens_.location(), name +
                                             " needs sm_90 or newer, the module's target is sm_" +
                                             std::to_string(module_.target.sm));
    if (tokens_.accept(".reqnctapercluster")) {
        function.cluster = extent();
    } else if (tokens_.accept(".explicitcluster")) {
        function.explicit_cluster = true;
    } else if (tokens_.accept(".maxclusterrank")) {
        function.max_cluster_rank = static_cast<std::uint32_t>(
            tokens_.expect_integer("a number of blocks", TokenStream::max_u32));
    } else {
        tokens_.fail(tokens_.location(), name + " is not supported: a grid is counted in blocks");
    }
}

Extent ModuleParser::extent() {
    auto number = [this] {
        return static_cast<std::uint32_t>(
            tokens_.expect_integer("a number of threads", TokenStream::max_u32));
    };
    Extent made{number(), 1, 1};
    if (tokens_.accept(","))
        made.y = number();
    if (tokens_.accept(","))
        made.z = number();
    return made;
}

std::uint32_t ModuleParser::declare_function(const Function &function, bool is_definition) {
    auto next = static_cast<std::uint32_t>(module_.functions.size());
    Meaning meaning{Meaning::Kind::Symbol, {SymbolKind::Function, next}, no_index};
    if (context_.names.declare(function.name, meaning)) {
        module_.functions.push_back(function);
        module_.functions.back().has_body = is_definition;
        return next;
    }
    SymbolRef symbol = context_.names.find(function.name)->meaning.symbol;
    std::string name = "`" + std::string(function.name) + "`";
    if (symbol.kind != SymbolKind::Function)
        tokens_.fail(function.location, name + " is declared twice");
    Function &known = module_.functions[symbol.index];
    if (known.has_body && is_definition)
        tokens_.fail(function.location, name + " is defined twice");
    if (!same_signature(known, function))
        tokens_.fail(function.location, name + " does not have the parameters of its declaration");
    known.has_body |= is_definition;
    return symbol.index;
}

bool ModuleParser::same_signature(const Function &a, const Function &b) const {
    auto same_list = [](const std::vector<Variable> &x, const std::vector<Variable> &y) {
        bool same = x.size() == y.size();
        for (std::size_t i = 0; same && i < x.size(); ++i)
            same = x[i].bytes() == y[i].bytes() && x[i].space == y[i].space;
        return same;
    };
    return a.kind == b.kind && same_list(a.returns, b.returns) &&
           same_list(a.parameters, b.parameters);
}

} // namespace softcuda::ptx
