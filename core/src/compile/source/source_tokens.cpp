// source_tokens.cpp -- reads C++ as tokens.
#include "compile/source/source_tokens.h"

#include "compile/source/source_text.h"

#include <array>
#include <cctype>

namespace pycuda {
namespace {

using namespace compile_detail;

/// Signs of several characters, longest first.
constexpr std::array<std::string_view, 26> long_signs = {
    "<<=", ">>=", "...", "->*", "->", "++", "--", "::", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##", ".*"};

/// A text without comments and continued lines. Strings are blank.
std::string plain(std::string_view text) {
    std::string code = blank_comments_and_strings(text);
    replace_all(code, "\\\n", "  ");
    return code;
}

/// The lines of a text that are directives ("define X 1"), and those that are not.
struct Lines {
    std::vector<std::string> directives;
    std::string code;
};

Lines lines_of(std::string_view text) {
    const std::string all = plain(text);
    Lines lines;
    for (std::string_view rest = all; !rest.empty();) {
        const std::string_view line = trimmed(take_line(rest));
        if (line.starts_with('#')) {
            lines.directives.emplace_back(trimmed(line.substr(1)));
            if (word_at(lines.directives.back(), 0).starts_with("include"))
                lines.code += "#\n";
        } else {
            lines.code.append(line).append("\n");
        }
    }
    return lines;
}

std::size_t length_of_number(std::string_view text) {
    std::size_t length = 1;
    while (length < text.size()) {
        const char c = text[length], before = text[length - 1];
        const bool exponent = (c == '+' || c == '-') &&
                              (before == 'e' || before == 'E' || before == 'p' || before == 'P');
        if (!is_word(c) && c != '.' && c != '\'' && !exponent)
            break;
        ++length;
    }
    return length;
}

Token next_token(std::string_view code) {
    const char c = code.front();
    if (c == '#')
        return {Token::Kind::Include, "#"};
    if (is_digit(c) || (c == '.' && code.size() > 1 && is_digit(code[1])))
        return {Token::Kind::Number, std::string(code.substr(0, length_of_number(code)))};
    if (is_word(c))
        return {Token::Kind::Name, std::string(word_at(code, 0))};
    if (c == '"' || c == '\'') {
        const std::size_t end = code.find(c, 1);
        return {Token::Kind::Literal,
                std::string(code.substr(0, std::min(end, code.size() - 1) + 1))};
    }
    for (std::string_view sign : long_signs)
        if (code.starts_with(sign))
            return {Token::Kind::Sign, std::string(sign)};
    return {Token::Kind::Sign, std::string(1, c)};
}

Tokens tokens_of_code(std::string_view code) {
    Tokens tokens;
    while (!(code = trimmed(code)).empty()) {
        tokens.push_back(next_token(code));
        code.remove_prefix(tokens.back().text.size());
    }
    return tokens;
}

/// Names that belong to the compiler and its headers: __X, _X.
bool is_reserved(std::string_view name) {
    return name.starts_with("__") ||
           (name.size() > 1 && name[0] == '_' && std::isupper(static_cast<unsigned char>(name[1])));
}

/// "X 1" for -DX, "X value" for -DX=value, "F(a) value" for -DF(a)=value.
std::string definition_of(std::string_view option) {
    const std::size_t equals = option.find('=');
    if (equals == none)
        return std::string(option) + " 1";
    return std::string(option.substr(0, equals)) + " " + std::string(option.substr(equals + 1));
}

/// The part of an option after `names[k]`, and whether it is the next option.
struct Value {
    bool found = false;
    bool is_next = false;
    std::string_view text = {};
};

Value value_of(std::string_view option, std::string_view short_name, std::string_view long_name) {
    if (option == short_name || option == long_name)
        return {true, true};
    if (option.starts_with(long_name) && option[long_name.size()] == '=')
        return {true, false, option.substr(long_name.size() + 1)};
    if (option.starts_with(short_name))
        return {true, false, option.substr(short_name.size())};
    return {};
}

} // namespace

Tokens tokens_of(std::string_view text) { return tokens_of_code(lines_of(text).code); }

bool has_name(const Tokens &tokens, std::string_view name) {
    return std::ranges::any_of(
        tokens, [&](const Token &token) { return token.is_name() && token.text == name; });
}

bool has_name_from(const Tokens &tokens, std::string_view start) {
    return std::ranges::any_of(tokens, [&](const Token &token) {
        return token.is_name() && token.text.starts_with(start);
    });
}

void UserMacros::take_from(std::vector<std::string> &options) {
    std::vector<std::string> rest;
    for (std::size_t k = 0; k < options.size(); ++k) {
        const Value defined = value_of(options[k], "-D", "--define-macro");
        const Value undefined = value_of(options[k], "-U", "--undefine-macro");
        const Value &value = defined.found ? defined : undefined;
        const bool is_pair = value.found && value.is_next && k + 1 < options.size();
        const std::string_view text = is_pair ? std::string_view(options[k + 1]) : value.text;
        const std::string name(word_at(text, 0));
        if (value.found)
            std::erase_if(options_, [&](const Option &known) { return known.name == name; });
        if (defined.found && !name.empty() && !is_reserved(name)) {
            options_.push_back({name, definition_of(text)});
            define(options_.back().definition);
            k += is_pair;
            continue;
        }
        rest.push_back(options[k]);
        if (is_pair)
            rest.push_back(options[++k]);
    }
    options = std::move(rest);
}

void UserMacros::add(std::string_view text) {
    for (const std::string &directive : lines_of(text).directives)
        if (word_at(directive, 0) == "define") {
            const std::string_view definition = trimmed(std::string_view(directive).substr(6));
            of_texts_.emplace(word_at(definition, 0));
            define(definition);
        }
}

void UserMacros::define(std::string_view definition) {
    const std::string name(word_at(definition, 0));
    std::string_view body = definition.substr(name.size());
    if (body.starts_with('(')) {
        const std::size_t close = std::min(body.find(')'), body.size() - 1);
        for (const Token &token : tokens_of_code(body.substr(0, close)))
            if (token.is_name())
                parameters_.insert(token.text);
        body.remove_prefix(close + 1);
    }
    Tokens &known = bodies_[name];
    std::string code(body);
    std::ranges::replace(code, '#', ' '); // # makes a string; ## is looked for here
    pastes_ |= body.find("##") != none;
    const Tokens tokens = tokens_of_code(code);
    known.insert(known.end(), tokens.begin(), tokens.end());
}

/// The options' macros whose names are in a text or in the definition of such a macro: all of them
/// if the text includes a file.
std::set<std::string_view> UserMacros::options_in(std::string_view text) const {
    std::set<std::string_view> used;
    std::string all = plain(text);
    const bool any = pastes_ || all.find("include") != none;
    for (std::size_t before = options_.size() + 1; used.size() != before;) {
        before = used.size();
        std::set<std::string_view> words;
        for_each_word(all, [&](std::size_t, std::string_view word) { words.insert(word); });
        std::string more;
        for (const Option &option : options_)
            if ((any || words.contains(option.name)) && used.insert(option.name).second)
                more += "\n" + option.definition;
        all += more;
    }
    return used;
}

std::string UserMacros::forget() const {
    std::string text;
    for (const std::string &name : of_texts_)
        text += "#undef " + name + "\n";
    return text;
}

std::string UserMacros::within(std::string_view text, std::string_view users) const {
    if (text.empty())
        return "";
    const std::set<std::string_view> used = options_in(users);
    std::string on, off;
    for (const Option &option : options_)
        if (used.contains(option.name)) {
            on += "\n#define " + option.definition;
            off += "\n#undef " + option.name;
        }
    return used.empty() ? std::string(text) : on + "\n" + std::string(text) + off + "\n";
}

std::string UserMacros::otherwise(std::string_view name, std::string_view parameters,
                                  std::string_view body) const {
    if (std::ranges::find(options_, name, &Option::name) != options_.end())
        return "";
    const std::string macro(name);
    return "\n#ifndef " + macro + "\n#define " + macro + std::string(parameters) + " " +
           std::string(body) + "\n#endif\n";
}

Tokens UserMacros::expand(const Tokens &tokens) const {
    Tokens result;
    std::set<std::string> open;
    for (const Token &token : tokens)
        expand_into(result, token, open);
    return result;
}

void UserMacros::expand_into(Tokens &result, const Token &token,
                             std::set<std::string> &open) const {
    constexpr std::size_t most = 100'000; // macros that double each other's bodies
    const auto body = token.is_name() ? bodies_.find(token.text) : bodies_.end();
    if (body == bodies_.end() || open.contains(token.text) || result.size() > most) {
        result.push_back(token);
        return;
    }
    open.insert(token.text);
    for (const Token &one : body->second)
        expand_into(result, one, open);
    open.erase(token.text);
}

bool UserMacros::rename(std::string_view name) const noexcept {
    return bodies_.contains(name) || parameters_.contains(name);
}

std::string undefine_names(std::string_view own) {
    std::set<std::string> names;
    const auto add_names = [&](const Tokens &tokens) {
        for (const Token &token : tokens)
            if (token.is_name() && !token.text.starts_with('_'))
                names.insert(token.text);
    };
    const Lines lines = lines_of(own);
    add_names(tokens_of_code(lines.code));
    for (const std::string &directive : lines.directives)
        add_names(tokens_of_code(directive));
    std::string text;
    for (const std::string &name : names)
        text += "#undef " + name + "\n";
    return text;
}

} // namespace pycuda
