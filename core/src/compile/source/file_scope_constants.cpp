// file_scope_constants.cpp -- `const` variables at file scope, whose values nvcc folds.
#include "compile/source/file_scope_constants.h"

#include <charconv>

#include "compile/source/namespace_scope.h"
#include "compile/source/source_text.h"

namespace pycuda::compile_detail {
namespace {

/// Words with which a declaration is not that of a host's constant.
constexpr std::string_view other_words[] = {
    "__device__", "__constant__", "__shared__", "__managed__",  "__global__",   "__host__",
    "extern",     "constexpr",    "typedef",    "using",        "template",     "friend",
    "struct",     "class",        "union",      "enum",         "namespace",    "volatile",
    "operator",   "asm",          "constinit",  "thread_local", "static_assert"};

/// Whether a parenthesis after the declared name begins an initialiser, not parameters.
bool begins_value(std::string_view text, std::size_t open) {
    const std::size_t at = skip_space(text, open + 1);
    return at < text.size() &&
           (is_digit(text[at]) || text[at] == '.' || text[at] == '-' || text[at] == '(');
}

/// The positions of the commas between the declarators of a list, in [begin, end).
std::vector<std::size_t> commas_between_declarators(std::string_view text, std::size_t begin,
                                                    std::size_t end) {
    std::vector<std::size_t> commas;
    for (std::size_t at = begin; at < end; ++at) {
        if (text[at] == '(' || text[at] == '[' || text[at] == '{')
            at = std::min(closing_bracket(text, at), end);
        else if (text[at] == ',')
            commas.push_back(at);
    }
    return commas;
}

bool begins_pointer(std::string_view text, std::size_t comma) {
    const std::size_t next = text.find_first_not_of(" \t\r\n", comma + 1);
    return next != none && (text[next] == '*' || text[next] == '&');
}

/// A statement that declares constants of the host.
struct Declaration {
    std::size_t begin;               // of the statement
    std::size_t word;                // of `const`
    std::size_t name;                // of the first declarator
    std::vector<std::size_t> commas; // between declarators
    std::size_t end;                 // of the ';'
};

/// Reads the statement in [begin, end); empty if it does not declare constants with initialisers.
std::optional<Declaration> read_declaration(std::string_view text, std::size_t begin,
                                            std::size_t end) {
    const Specifiers read = read_specifiers(text, begin, end);
    const bool has_value = read.stop == '=' || read.stop == '{' || read.stop == '[' ||
                           (read.stop == '(' && begins_value(text, read.end));
    if (!has_value || read.has_declarator_of_pointer || read.words.size() < 3 ||
        text.substr(read.end, end - read.end).find_first_of("={(") == none)
        return std::nullopt;
    std::size_t found = none;
    for (const Word &word : read.words) {
        if (has_any(other_words, word.text))
            return std::nullopt;
        if (word.text == "const" && found == none)
            found = word.begin;
    }
    std::vector<std::size_t> commas = commas_between_declarators(text, read.end, end);
    if (found == none ||
        std::ranges::any_of(commas, [&](std::size_t comma) { return begins_pointer(text, comma); }))
        return std::nullopt;
    return Declaration{read.words.front().begin, found, read.words.back().begin, std::move(commas),
                       end};
}

/// A line and a column of a text, both from 0.
struct Place {
    std::size_t line, column;
};

/// The places at which the log reports initialisers that are not constant. The compiler prints
///     kernel.cu(3): error: expression must have a constant value
///       const float r = sqrtf(3.0f);
///                       ^
std::vector<Place> places_of_errors(std::string_view log, std::string_view name) {
    std::vector<Place> places;
    std::size_t line = 0; // from 1; 0 if the error is another one
    while (!log.empty()) {
        std::string_view text = take_line(log);
        const std::size_t caret = text.find_first_not_of(' ');
        if (line > 0 && caret != none && text[caret] == '^') {
            places.push_back({line - 1, caret < 2 ? 0 : caret - 2});
            line = 0;
        }
        const std::size_t error = text.find("): error");
        if (error == none)
            continue;
        line = 0;
        if (!text.starts_with(name) || text[name.size()] != '(' || !needs_constants(text))
            continue;
        text.remove_prefix(name.size() + 1);
        std::from_chars(text.data(), text.data() + text.size(), line); // 0 if this is no number
    }
    return places;
}

std::size_t position_of(std::string_view text, Place place) {
    std::size_t at = 0;
    for (std::size_t line = 0; line < place.line && at != none; ++line) {
        at = text.find('\n', at);
        at = at == none ? none : at + 1;
    }
    return at == none ? none : std::min(at + place.column, text.size());
}

/// Writes the declarations of one statement, each as a statement of its own.
class Folder {
  public:
    Folder(std::string_view text, const std::set<std::size_t> &removed)
        : text_(text), removed_(removed) {}

    FoldedConstants run() {
        blanked_ = blank_all_but_code(text_);
        std::size_t done = 0;
        for (const ScopeStatement &statement : statements_at_namespace_scope(blanked_)) {
            const std::optional<Declaration> declaration =
                statement.is_function_body
                    ? std::nullopt
                    : read_declaration(blanked_, statement.begin, statement.end - 1);
            if (!declaration)
                continue;
            folded_.text += text_.substr(done, declaration->begin - done);
            write(*declaration);
            done = declaration->end + 1;
        }
        folded_.text += text_.substr(done);
        return std::move(folded_);
    }

  private:
    void write(const Declaration &declaration) {
        const std::string specifiers = specifiers_of(declaration, text_);
        std::string on_one_line = specifiers_of(declaration, blanked_);
        std::ranges::replace(on_one_line, '\n', ' ');
        std::size_t begin = declaration.name;
        for (std::size_t number = 0; number <= declaration.commas.size(); ++number) {
            const std::size_t end =
                number < declaration.commas.size() ? declaration.commas[number] : declaration.end;
            write_declarator((number == 0 ? specifiers : on_one_line) +
                             std::string(text_.substr(begin, end - begin)) + ";");
            begin = end + 1;
        }
    }

    /// From the text, or from the text without comments.
    static std::string specifiers_of(const Declaration &declaration, std::string_view text) {
        constexpr std::size_t length = std::string_view("const").size();
        const std::size_t rest = declaration.word + length;
        return std::string(text.substr(declaration.begin, declaration.word - declaration.begin)) +
               "constexpr" + std::string(text.substr(rest, declaration.name - rest));
    }

    void write_declarator(std::string statement) {
        if (removed_.contains(folded_.declarations.size()))
            std::ranges::replace_if(statement, [](char c) { return c != '\n'; }, ' ');
        const std::size_t begin = folded_.text.size();
        folded_.text += statement;
        folded_.declarations.push_back({begin, folded_.text.size()});
    }

    std::string_view text_;
    const std::set<std::size_t> &removed_;
    std::string blanked_;
    FoldedConstants folded_;
};

} // namespace

FoldedConstants fold_constants(std::string_view text, const std::set<std::size_t> &removed) {
    return Folder(text, removed).run();
}

bool needs_constants(std::string_view log) {
    constexpr std::string_view phrases[] = {"dynamic initialization is not supported",
                                            "expression must have a constant value",
                                            "is not a literal type", "is not of literal type"};
    return says_any(log, phrases);
}

std::set<std::size_t> find_host_variables(const FoldedConstants &folded, std::string_view log,
                                          std::string_view name) {
    std::set<std::size_t> numbers;
    for (const Place &place : places_of_errors(log, name)) {
        const std::size_t at = position_of(folded.text, place);
        for (std::size_t number = 0; number < folded.declarations.size(); ++number) {
            const FileScopeConstant &declaration = folded.declarations[number];
            if (declaration.begin <= at && at < declaration.end)
                numbers.insert(number);
        }
    }
    return numbers;
}

} // namespace pycuda::compile_detail
