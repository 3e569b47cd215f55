// gnu_extensions.cpp -- GCC's extensions of C++, which nvcc takes and NVRTC refuses.
#include "compile/source/gnu_extensions.h"

#include <charconv>
#include <set>

#include "compile/source/source_text.h"
#include "driver/never_destroyed.h"

namespace pycuda::compile_detail {
namespace {

constexpr long most_cases = 1024; // of one range

// A backslash is a space, too: extensions are most frequent in macros of several lines.
bool is_gap(char c) { return is_space(c) || c == '\\'; }

std::size_t skip_gap(std::string_view text, std::size_t at) {
    while (at < text.size() && is_gap(text[at]))
        ++at;
    return at;
}

/// The position of the last character before `at` that is no space; `none` if there is none.
std::size_t before(std::string_view text, std::size_t at) {
    while (at > 0 && is_gap(text[at - 1]))
        --at;
    return at == 0 ? none : at - 1;
}

/// Finds the extensions in a text without comments and strings.
class Finder {
  public:
    explicit Finder(std::string_view blanked) : text_(blanked) {}

    std::vector<Edit> run() {
        for (std::size_t at = 0; at < text_.size(); ++at) {
            if (text_[at] == '(')
                open_parenthesis(at);
            else if (text_[at] == '?')
                question(at);
        }
        for_each_word(text_, [this](std::size_t at, std::string_view word) {
            if (word == "case")
                case_label(at + word.size());
        });
        return std::move(edits_);
    }

  private:
    void open_parenthesis(std::size_t open) {
        const std::size_t inside = skip_gap(text_, open + 1);
        if (inside < text_.size() && text_[inside] == '{') {
            statement_expression(open, inside);
            return;
        }
        const std::size_t close = closing_bracket(text_, open);
        if (close == none || inside == close)
            return;
        const std::size_t brace = skip_gap(text_, close + 1);
        if (brace < text_.size() && text_[brace] == '{' && follows_operator(open) &&
            names_type(text_.substr(open + 1, close - open - 1)) &&
            !is_body_of_specialization(open, brace))
            compound_literal(open, close);
    }

    /// Whether an operand begins at `at`, so that `(T){` there is no function and no condition.
    bool follows_operator(std::size_t at) const {
        const std::size_t last = before(text_, at);
        if (last == none)
            return false;
        if (ends_macro_name(last, at))
            return true;
        if (is_word(text_[last])) {
            const std::string_view word = word_before(text_, last + 1);
            return word == "return" || word == "case";
        }
        constexpr std::string_view operators = "=(,?:[+-*/%&|^<>!~{";
        if (operators.find(text_[last]) == none)
            return false;
        std::size_t earlier = last; // of `operator<<`
        while (earlier != none && operators.find(text_[earlier]) != none)
            earlier = before(text_, earlier);
        return earlier == none || word_before(text_, earlier + 1) != "operator";
    }

    /// Whether `(int) {` is the function of `f<2>(int) { ... }`, and `a > (int){1}` is none.
    bool is_body_of_specialization(std::size_t open, std::size_t brace) const {
        const std::size_t end = closing_bracket(text_, brace);
        if (text_[before(text_, open)] != '>' || end == none)
            return false;
        const std::string_view body = text_.substr(brace + 1, end - brace - 1);
        return skip_gap(body, 0) == body.size() || body.find(';') != none;
    }

    /// Whether `#define NAME` or `#define NAME(...)` ends at `last`, and its text begins at `at`.
    bool ends_macro_name(std::size_t last, std::size_t at) const {
        if (text_[last] != ')' && at == last + 1)
            return false; // the parameters
        if (text_[last] == ')') {
            const std::size_t open = text_.rfind('(', last);
            if (open == none || open == 0)
                return false;
            last = open - 1;
        }
        if (!is_word(text_[last]))
            return false;
        const std::size_t name = last + 1 - word_before(text_, last + 1).size();
        const std::size_t define = before(text_, name);
        return define != none && word_before(text_, define + 1) == "define";
    }

    /// Whether the text is a type, not the parameters of a function: `float *p` has a name.
    static bool names_type(std::string_view text) {
        constexpr std::string_view others[] = {"const", "volatile", "struct",  "union",
                                               "enum",  "class",    "typename"};
        constexpr std::string_view fundamental[] = {"bool",   "char",  "short",  "int",     "long",
                                                    "signed", "float", "double", "unsigned"};
        std::size_t depth = 0;
        bool has_type = false, is_member = false;
        for (std::size_t at = 0; at < text.size(); ++at) {
            const char c = text[at];
            if (is_word(c)) {
                const std::string_view word = word_at(text, at);
                at += word.size() - 1;
                const bool adds = depth == 0 && !is_digit(c) && !has_any(others, word);
                if (adds && !has_any(fundamental, word) && has_type && !is_member)
                    return false;
                has_type |= adds;
                is_member = false;
            } else if (c == ':') {
                is_member = true;
            } else if (c == '<' || c == '[') {
                ++depth;
            } else if (c == '>' || c == ']') {
                if (depth-- == 0)
                    return false;
            } else if ((c == ',' && depth == 0) ||
                       (!is_gap(c) && std::string_view(",*&").find(c) == none)) {
                return false;
            }
        }
        return has_type;
    }

    void compound_literal(std::size_t open, std::size_t close) {
        edits_.push_back({open, open + 1, "pycuda_type<"});
        edits_.push_back({close, close + 1, ">"});
    }

    void statement_expression(std::size_t open, std::size_t brace) {
        const std::size_t end = closing_bracket(text_, brace);
        const std::size_t close = closing_bracket(text_, open);
        if (end == none || close == none || skip_gap(text_, end + 1) != close ||
            leaves(text_.substr(brace, end - brace)))
            return;
        edits_.push_back({open, open + 1, "([&]"});
        if (const std::size_t value = last_expression(brace, end); value != none)
            edits_.push_back({value, value, "return "});
        edits_.push_back({end, end + 1, "}()"});
    }

    /// Whether the statements can end the function or the loop around them.
    static bool leaves(std::string_view statements) {
        constexpr std::string_view ends[] = {"return", "goto", "break", "continue"};
        return std::ranges::any_of(
            ends, [&](std::string_view word) { return has_word(statements, word); });
    }

    /// The position of the last statement in braces if the statement is an expression.
    std::size_t last_expression(std::size_t brace, std::size_t end) const {
        std::size_t begin = brace + 1, last = none;
        for (std::size_t at = begin; at < end; ++at) {
            if (text_[at] == '(' || text_[at] == '[' || text_[at] == '{')
                at = closing_bracket(text_, at); // the outer brace is closed, so the inner ones are
            const bool is_block = text_[at] == '}';
            if (text_[at] != ';' && !is_block)
                continue;
            const std::size_t first = skip_gap(text_, begin);
            if (first < at)
                last = is_block ? none : first;
            begin = at + 1;
        }
        if (last == none)
            return none;
        constexpr std::string_view statements[] = {"if", "for", "while", "do", "switch", "asm"};
        return has_any(statements, word_at(text_, last)) ? none : last;
    }

    /// `a ?: b`, where `a` has no effect and so can be evaluated twice.
    void question(std::size_t at) {
        const std::size_t colon = skip_gap(text_, at + 1);
        if (colon >= text_.size() || text_[colon] != ':' ||
            (colon + 1 < text_.size() && text_[colon + 1] == ':'))
            return;
        const std::size_t begin = operand_before(at);
        const std::string_view operand = text_.substr(begin, at - begin);
        if (begin == none || has_effect(operand))
            return;
        std::string copy(operand);
        std::ranges::replace_if(copy, is_gap, ' ');
        edits_.push_back({colon, colon, " (" + copy + ") "});
    }

    /// The begin of the condition that ends before the '?' at `at`.
    std::size_t operand_before(std::size_t at) const {
        int depth = 0;
        std::size_t begin = at;
        while (begin > 0) {
            const char c = text_[begin - 1];
            depth += (c == ')' || c == ']' || c == '}') - (c == '(' || c == '[' || c == '{');
            if (depth < 0 || (depth == 0 && ends_operand(begin - 1)))
                break;
            --begin;
        }
        begin = skip_gap(text_, begin);
        while (word_at(text_, begin) == "return")
            begin = skip_gap(text_, begin + std::string_view("return").size());
        return begin < at ? begin : none;
    }

    bool ends_operand(std::size_t at) const {
        const char c = text_[at];
        if (c == ';' || c == ',' || c == '?' || c == ':' || c == '\n')
            return c != '\n' || at == 0 || text_[at - 1] != '\\';
        if (c != '=')
            return false;
        const char next = text_[at + 1], previous = at > 0 ? text_[at - 1] : ' ';
        const bool compares =
            next == '=' || previous == '=' || previous == '!' || previous == '<' || previous == '>';
        return !compares;
    }

    static bool has_effect(std::string_view operand) {
        bool found = operand.find("++") != none || operand.find("--") != none;
        for (std::size_t at = operand.find('('); at != none; at = operand.find('(', at + 1)) {
            const std::size_t last = before(operand, at);
            found |= last != none && (is_word(operand[last]) || operand[last] == ')' ||
                                      operand[last] == ']' || operand[last] == '>');
        }
        return found;
    }

    /// `case 1 ... 3:` with numbers.
    void case_label(std::size_t at) {
        at = skip_gap(text_, at);
        long first = 0, last = 0;
        const auto [end, failed] =
            std::from_chars(text_.data() + at, text_.data() + text_.size(), first);
        const std::size_t dots = skip_gap(text_, static_cast<std::size_t>(end - text_.data()));
        if (failed != std::errc() || !text_.substr(dots).starts_with("..."))
            return;
        const std::size_t second = skip_gap(text_, dots + 3);
        const auto [stop, wrong] =
            std::from_chars(text_.data() + second, text_.data() + text_.size(), last);
        const std::size_t after = static_cast<std::size_t>(stop - text_.data());
        const std::size_t colon = skip_gap(text_, after);
        if (wrong != std::errc() || colon >= text_.size() || text_[colon] != ':' || last < first ||
            last - first >= most_cases)
            return;
        std::string labels = std::to_string(first);
        for (long value = first + 1; value <= last; ++value)
            labels += ": case " + std::to_string(value);
        edits_.push_back({at, after, labels});
    }

    std::string_view text_;
    std::vector<Edit> edits_;
};

// typeof has the type without a reference, as GCC's; it takes an expression here, and GCC's takes a
// type too.
constexpr std::string_view header = R"(#ifndef PYCUDA_GNU_EXTENSIONS
#define PYCUDA_GNU_EXTENSIONS
extern "C++" {
template <class T> struct pycuda_plain { typedef T type; };
template <class T> struct pycuda_plain<T &> { typedef T type; };
template <class T> struct pycuda_plain<T &&> { typedef T type; };
template <class T> using pycuda_type = typename pycuda_plain<T>::type;
}
#define __typeof__(...) pycuda_type<decltype(__VA_ARGS__)>
#define __typeof(...) pycuda_type<decltype(__VA_ARGS__)>
#define typeof(...) pycuda_type<decltype(__VA_ARGS__)>
#define __builtin_popcount(x) __popc(x)
#define __builtin_popcountl(x) __popcll(x)
#define __builtin_popcountll(x) __popcll(x)
#define __builtin_clz(x) __clz(x)
#define __builtin_clzl(x) __clzll(x)
#define __builtin_clzll(x) __clzll(x)
#define __builtin_ffs(x) __ffs(x)
#define __builtin_ffsl(x) __ffsll(x)
#define __builtin_ffsll(x) __ffsll(x)
#define __builtin_ctz(x) (__ffs(x) - 1)
#define __builtin_ctzl(x) (__ffsll(x) - 1)
#define __builtin_ctzll(x) (__ffsll(x) - 1)
#define __builtin_parity(x) (__popc(x) & 1)
#define __builtin_bswap32(x) __byte_perm(x, 0, 0x0123)
#define __builtin_inf() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_inff() __int_as_float(0x7f800000)
#define __builtin_huge_val() __longlong_as_double(0x7ff0000000000000LL)
#define __builtin_huge_valf() __int_as_float(0x7f800000)
#define __extension__
#define __asm__ asm
#define __asm asm
#define __volatile__ volatile
#define __builtin_abs(x) abs((int)(x))
#define __builtin_labs(x) labs((long)(x))
#define __builtin_memcpy(x, y, n) memcpy(x, y, n)
#define __builtin_memset(x, y, n) memset(x, y, n)
#define __builtin_nan(x) nan(x)
#define __builtin_nanf(x) nanf(x)
)";

/// Functions of C of doubles, which have an `f` behind their names for floats.
struct MathFunctions {
    std::string_view parameters, doubles, names;
};
constexpr MathFunctions math_functions[] = {
    {"(x)", "((double)(x))",
     "fabs sqrt sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 log10 floor ceil round "
     "trunc rint cbrt"},
    {"(x, y)", "((double)(x), (double)(y))", "pow fmin fmax fmod atan2 hypot copysign"},
    {"(x, y, z)", "((double)(x), (double)(y), (double)(z))", "fma"}};

std::string make_header() {
    std::string text(header);
    for (const MathFunctions &functions : math_functions)
        for_each_word(functions.names, [&](std::size_t, std::string_view name) {
            std::string lines = "#define __builtin_NAMEPARAMETERS NAMEDOUBLES\n"
                                "#define __builtin_NAMEfPARAMETERS NAMEfPARAMETERS\n";
            replace_all(lines, "PARAMETERS", functions.parameters);
            replace_all(lines, "DOUBLES", functions.doubles);
            replace_all(lines, "NAME", name);
            text += lines;
        });
    return text + "#endif\n";
}

/// The position of the '{' that matches the '}' at `close`, or `none`.
std::size_t opening_brace(std::string_view text, std::size_t close) {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
        depth += (text[at] == '}') - (text[at] == '{');
        if (depth == 0)
            return at;
    }
    return none;
}

/// The position for an attribute of the struct whose body opens at `open`: after the keyword.
/// `none` if the body is not that of a struct.
std::size_t place_for_attribute(std::string_view text, std::size_t open) {
    for (int words = 0; words < 2; ++words) {
        const std::string_view word = word_before(text, open);
        open = static_cast<std::size_t>(word.data() - text.data());
        if (word == "struct" || word == "union")
            return open + word.size();
    }
    return none;
}

struct Range {
    std::size_t begin, end;
};

/// An attribute with its argument, after a closing brace. An unknown name is a macro if a declared
/// name follows it.
std::optional<Range> attribute_behind(std::string_view text, std::size_t close) {
    const std::size_t begin = skip_space(text, close + 1);
    const std::string_view name = word_at(text, begin);
    const std::size_t open = skip_space(text, begin + name.size());
    if (name.empty() || open >= text.size() || text[open] != '(')
        return {};
    const std::size_t last = closing_bracket(text, open);
    if (last == none)
        return {};
    const bool is_known = name == "__align__" || name == "__attribute__";
    if (!is_known && word_at(text, skip_space(text, last + 1)).empty())
        return {};
    return Range{begin, last + 1};
}

std::string blanks_for(std::string_view text) {
    std::string blanks(text);
    for (char &c : blanks)
        c = c == '\n' ? '\n' : ' ';
    return blanks;
}

std::string on_one_line(std::string_view text) {
    std::string line = " " + std::string(text);
    std::ranges::replace(line, '\n', ' ');
    return line;
}

} // namespace

std::optional<std::string> replace_imports(std::string_view text) {
    if (text.find("import") == none)
        return std::nullopt;
    const std::string blanked = blank_comments_and_strings(text);
    constexpr std::string_view word = "import";
    std::set<std::string, std::less<>> seen;
    std::vector<Edit> edits;
    for (const IncludeDirective &include : find_includes(text, blanked)) {
        if (!include.only_once)
            continue;
        const std::size_t at = blanked.find(word, include.line_begin);
        if (seen.insert(include.name).second)
            edits.push_back({at, at + word.size(), "include"});
        else
            edits.push_back({include.line_begin, include.line_end, ""});
    }
    return edited(text, std::move(edits));
}

std::optional<std::string> replace_escapes(std::string_view text) {
    if (text.find("\\e") == none || text.find("R\"") != none)
        return std::nullopt;
    const std::string blanked = blank_comments_and_strings(text);
    std::vector<Edit> edits;
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
        if (text[at] != '\\' || blanked[at] != ' ')
            continue; // outside of a literal
        if (text[at + 1] == 'e')
            edits.push_back({at, at + 2, "\\033"});
        ++at; // the escaped character
    }
    return edited(text, std::move(edits));
}

std::optional<std::string> replace_gnu_extensions(std::string_view text) {
    return edited(text, Finder(blank_comments_and_strings(text)).run());
}

const char *text_of_gnu_extension_header() { return made_once<make_header>().c_str(); }

bool may_be_gnu_extension(std::string_view log) {
    constexpr std::string_view phrases[] = {"error: expected an expression",
                                            "error: expected a \":\"",
                                            "identifier \"typeof",
                                            "identifier \"__typeof",
                                            "identifier \"__builtin_",
                                            "identifier \"__extension__",
                                            "identifier \"__asm"};
    return says_any(log, phrases);
}

bool has_designators(std::string_view text) {
    const std::string blanked = blank_comments_and_strings(text);
    for (std::size_t at = blanked.find('.'); at != none; at = blanked.find('.', at + 1)) {
        const std::size_t last = before(blanked, at);
        const std::size_t name = at + 1;
        if (last == none || (blanked[last] != '{' && blanked[last] != ',') ||
            name >= blanked.size() || !is_word(blanked[name]) || is_digit(blanked[name]))
            continue;
        const std::size_t after = skip_gap(blanked, name + word_at(blanked, name).size());
        if (after < blanked.size() && blanked[after] == '=')
            return true;
    }
    return false;
}

std::optional<std::string> move_struct_attributes(std::string_view text) {
    if (text.find("struct") == none && text.find("union") == none)
        return std::nullopt;
    const std::string blanked = blank_comments_and_strings(text);
    std::vector<Edit> edits;
    for (std::size_t close = blanked.find('}'); close != none;
         close = blanked.find('}', close + 1)) {
        const std::optional<Range> attribute = attribute_behind(blanked, close);
        if (!attribute)
            continue;
        const std::size_t open = opening_brace(blanked, close);
        const std::size_t place = open == none ? none : place_for_attribute(blanked, open);
        if (place == none)
            continue;
        const std::string_view moved(blanked.data() + attribute->begin,
                                     attribute->end - attribute->begin);
        edits.push_back({place, place, on_one_line(moved)});
        edits.push_back({attribute->begin, attribute->end, blanks_for(moved)});
    }
    return edited(text, std::move(edits));
}

void write_for_nvrtc(std::string &text) {
    for (auto *change : {move_struct_attributes, replace_imports, replace_escapes})
        if (std::optional<std::string> changed = change(text))
            text = std::move(*changed);
}

} // namespace pycuda::compile_detail
