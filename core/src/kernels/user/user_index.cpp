// user_index.cpp -- proves that each x[i] of a text is the element of the loop.
//
// The proof reads tokens and knows no types. It fails if a token in front of an `i` may belong to a
// declaration, or one beside it may change it:
//
//     z[i] = x[i] + i % 2;                        proved
//     for (int i = 0; i < 4; ++i) s += x[i];      declared: `int` in front of it
//     T *i = p;                                   may be declared: T may be a type
//     i = n - 1 - i;                              assigned
//     advance(i);                                 if the preamble has functions with references
//     float *p = &x[i];                           the address of an element is kept
#include "kernels/user/user_index.h"

#include "compile/source/source_text.h"

#include <set>

namespace pycuda {
namespace {

using namespace compile_detail;

constexpr std::string_view built_in_types[] = {
    "bool",   "char",     "short",   "int",     "long",     "float",   "double",
    "signed", "unsigned", "size_t",  "auto",    "half",     "half2",   "__half",
    "int8_t", "uint8_t",  "int32_t", "int64_t", "uint32_t", "uint64_t"};
constexpr std::string_view words_before_values[] = {
    "return", "else", "do",       "case",   "sizeof", "throw", "and",    "or",
    "not",    "xor",  "co_yield", "bitand", "bitor",  "compl", "and_eq", "alignof"};
constexpr std::string_view words_before_brackets[] = {
    "if",         "for",  "while", "switch", "return", "sizeof",      "else",
    "do",         "case", "const", "auto",   "delete", "static_cast", "reinterpret_cast",
    "const_cast", "and",  "or",    "not"};
/// Words of declarations that the proof does not read.
constexpr std::string_view unread_words[] = {
    "struct",   "class",    "union",    "enum",       "template",   "typename", "using",
    "typedef",  "decltype", "typeof",   "__typeof__", "__typeof",   "asm",      "goto",
    "operator", "mutable",  "requires", "namespace",  "__auto_type"};
constexpr std::string_view assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"};
/// CUDA's functions that write a result through a pointer, and do not keep it.
constexpr std::string_view writing_functions[] = {
    "sincos", "sincosf", "__sincosf", "sincospi", "sincospif", "frexp",    "frexpf",
    "modf",   "modff",   "remquo",    "remquof",  "lgamma_r",  "lgammaf_r"};
/// Beginnings of the names of headers that define no macros with these names in their bodies.
constexpr std::string_view plain_headers[] = {"pycuda-", "cuda",  "curand", "cub/",
                                              "thrust/", "math",  "std",    "float.",
                                              "limits",  "cmath", "cstd",   "cuComplex"};

class IndexProof {
  public:
    IndexProof(const Tokens &tokens, const std::set<std::string, std::less<>> &values,
               bool has_reference_functions)
        : tokens_(tokens), values_(values), has_reference_functions_(has_reference_functions) {
        find_brackets();
        has_references_ = find_references();
    }

    /// Whether each `i` is the loop's, and is only read.
    bool holds() const {
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            const Token &token = tokens_[at];
            if (token.kind == Token::Kind::Include ||
                (token.is_name() && has_any(unread_words, token.text)))
                return false;
            if (token.is_name() && token.is("i") && !is_read(at))
                return false;
        }
        return true;
    }

    /// How often `name` occurs, if only as name[i] whose address is not kept; else 0.
    std::size_t only_at_i(std::string_view name) const {
        std::size_t uses = 0;
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            if (!tokens_[at].is_name() || !tokens_[at].is(name) || is_member(at))
                continue;
            if (!text(at + 1, "[") || !text(at + 2, "i") || !text(at + 3, "]") ||
                is_kept(at, at + 3))
                return 0;
            ++uses;
        }
        return uses;
    }

  private:
    bool text(std::size_t at, std::string_view wanted) const {
        return at < tokens_.size() && tokens_[at].is(wanted);
    }
    std::string_view text(std::size_t at) const {
        return at < tokens_.size() ? std::string_view(tokens_[at].text) : std::string_view();
    }
    bool is_name(std::size_t at) const { return at < tokens_.size() && tokens_[at].is_name(); }
    bool is_number(std::size_t at) const {
        return at < tokens_.size() && (tokens_[at].kind == Token::Kind::Number ||
                                       tokens_[at].kind == Token::Kind::Literal);
    }
    bool is_member(std::size_t at) const {
        return text(at - 1, ".") || text(at - 1, "->") || text(at - 1, "::");
    }
    /// A name that is known to be a variable: no declaration can have it as its type.
    bool is_variable(std::size_t at) const {
        return is_name(at) && (is_member(at) ? !text(at - 1, "::") : values_.contains(text(at)));
    }
    /// Whether an operand ends here, and no type: a number, a variable, x[k].
    bool is_operand_end(std::size_t at) const {
        return is_number(at) || text(at, "]") || is_variable(at);
    }
    bool begins_statement(std::size_t at) const {
        return at >= tokens_.size() || text(at, ";") || text(at, "{") || text(at, "}") ||
               text(at, ")") || text(at, ":");
    }

    /// The innermost bracket that is open at each token.
    void find_brackets() {
        std::vector<std::size_t> open;
        for (std::size_t at = 0; at < tokens_.size(); ++at) {
            if (!open.empty() && (text(at, ")") || text(at, "]") || text(at, "}")))
                open.pop_back();
            open_.push_back(open.empty() ? none : open.back());
            if (text(at, "(") || text(at, "[") || text(at, "{"))
                open.push_back(at);
        }
    }

    /// Whether a reference may be declared: `auto &r`, `T &r`, `complex<float> &r`.
    bool find_references() const {
        for (std::size_t at = 1; at + 1 < tokens_.size(); ++at)
            if ((text(at, "&") || text(at, "&&")) && is_name(at + 1) &&
                ((is_name(at - 1) && !is_variable(at - 1)) || text(at - 1, ">")))
                return true;
        return false;
    }

    /// The name of the function whose argument list an operand begins, at the bracket or comma
    /// `before`; empty if there is none.
    std::string_view callee_of(std::size_t before) const {
        const std::size_t bracket = text(before, ",") ? open_[before] : before;
        if (bracket == none || !text(bracket, "(") || !is_name(bracket - 1) ||
            has_any(words_before_brackets, text(bracket - 1)))
            return {};
        return text(bracket - 1);
    }

    /// The tokens beside an operand from `first` to `last`, without parentheses around it.
    struct Beside {
        std::size_t before, after;
    };
    Beside beside(std::size_t first, std::size_t last) const {
        std::size_t before = first - 1, after = last + 1;
        while (text(before, "(") && text(after, ")") && !is_name(before - 1)) {
            --before;
            ++after;
        }
        return {before, after};
    }

    /// Whether the operand is a whole argument or initialiser, to which a reference may be bound.
    bool may_be_bound(const Beside &beside) const {
        const std::string_view before = text(beside.before), after = text(beside.after);
        const bool ends =
            after == ";" || after == "," || after == ")" || after == "}" || after.empty();
        if (!ends)
            return false;
        if (has_references_ && (before == "=" || before == "(" || before == "{" || before == ","))
            return true;
        const std::string_view callee = callee_of(beside.before);
        return has_reference_functions_ && !callee.empty() && !has_any(built_in_types, callee);
    }

    bool is_read(std::size_t at) const {
        if (is_member(at))
            return true; // another variable of this name
        const Beside around = beside(at, at);
        if (has_any(assignments, text(around.after)) || text(around.before, "++") ||
            text(around.before, "--") || may_be_bound(around))
            return false;
        return is_value_after(around);
    }

    /// Whether no declaration can end with the operand, from the token before it.
    bool is_value_after(const Beside &around) const {
        const std::size_t before = around.before;
        if (before >= tokens_.size()) // the text begins
            return true;
        if (is_name(before))
            return has_any(words_before_values, text(before));
        if (is_number(before))
            return false;
        const std::string_view sign = text(before);
        if (sign == "&")
            return is_operand_end(before - 1);
        if (sign == "&&" || sign == ">" || sign == ">>")
            return is_operand_end(before - 1) || text(before - 1, ")");
        if (sign == "*")
            return is_operand_end(before - 1) || text(before - 1, ")") || is_product(around);
        if (sign == ",")
            return is_listed(before);
        if (sign == "[")
            return text(before - 1, "]") || text(before - 1, ")") ||
                   (is_name(before - 1) && !has_any(words_before_brackets, text(before - 1)));
        if (sign == "(") // T(i); may declare i
            return !text(around.after, ")") || !is_name(before - 1) ||
                   has_any(words_before_brackets, text(before - 1)) ||
                   !begins_statement(before - 2);
        return true;
    }

    /// `a * i` with an unknown name `a`: a product unless it may begin a declaration and end there.
    bool is_product(const Beside &around) const {
        const std::size_t name = around.before - 1;
        if (!is_name(name) || has_any(built_in_types, text(name)) || text(name, "const"))
            return false;
        const bool may_begin = begins_statement(name - 1) || text(name - 1, "(") ||
                               text(name - 1, ",") || is_name(name - 1);
        const std::string_view after = text(around.after);
        return !may_begin || (after != ";" && after != "," && after != ")" && after != ":" &&
                              after != "[" && after != "(" && after != "{");
    }

    /// Whether the comma separates arguments, and not declared names.
    bool is_listed(std::size_t comma) const {
        const std::size_t bracket = open_[comma];
        if (bracket == none)
            return false;
        if (text(bracket, "("))
            return !text(bracket - 1, "for");
        if (text(bracket, "["))
            return is_variable(bracket - 1) || text(bracket - 1, "]") || text(bracket - 1, ")");
        return text(bracket - 1, "=") || text(bracket - 1, "(") || text(bracket - 1, ",") ||
               text(bracket - 1, "return");
    }

    /// Whether the address of the element from `first` to `last` may be kept.
    bool is_kept(std::size_t first, std::size_t last) const {
        const Beside around = beside(first, last);
        const std::size_t before = around.before;
        if (text(before, "&"))
            return !is_operand_end(before - 1) &&
                   !((text(before - 1, "(") || text(before - 1, ",")) &&
                     has_any(writing_functions, callee_of(before - 1)));
        const std::string_view callee = callee_of(before);
        return callee.ends_with("addressof") || (has_references_ && may_be_bound(around));
    }

    const Tokens &tokens_;
    const std::set<std::string, std::less<>> &values_;
    std::vector<std::size_t> open_;
    bool has_reference_functions_;
    bool has_references_ = false;
};

/// Names after a built-in type: variables, or functions.
void add_declared(const Tokens &tokens, std::set<std::string, std::less<>> &names) {
    for (std::size_t at = 1; at < tokens.size(); ++at)
        if (tokens[at].is_name() && tokens[at - 1].is_name() &&
            has_any(built_in_types, tokens[at - 1].text) &&
            !has_any(built_in_types, tokens[at].text) && !tokens[at].is("const"))
            names.insert(tokens[at].text);
}

/// The names of the headers that a text includes: `<math.h>`.
bool includes_only_plain_headers(std::string_view text) {
    const std::string blanked = blank_comments_and_strings(text);
    for (const auto &include : find_includes(text, blanked)) {
        const bool plain = include.form != IncludeDirective::Form::Computed &&
                           std::ranges::any_of(plain_headers, [&](std::string_view begin) {
                               return include.name.starts_with(begin);
                           });
        if (!include.only_asks && !plain)
            return false;
    }
    return true;
}

/// Words that show that a text depends on neighbouring threads.
constexpr std::string_view thread_words[] = {
    "threadIdx",     "blockIdx",   "blockDim",           "gridDim", "tid", "cta_start",
    "total_threads", "__shared__", "cooperative_groups", "warpSize"};
/// Words of statements that end a loop early, or that are not the same for each element.
constexpr std::string_view loop_words[] = {"break", "return", "goto", "asm", "__asm__", "static"};
constexpr std::string_view skipping_words[] = {"if",   "for",    "while", "switch", "break",
                                               "goto", "return", "?",     "&&",     "||"};

bool has_one_of(const Tokens &tokens, const auto &words) {
    return std::ranges::any_of(tokens,
                               [&](const Token &token) { return has_any(words, token.text); });
}

bool minds_threads(const Tokens &tokens) {
    return has_one_of(tokens, thread_words) || has_name_from(tokens, "__sync") ||
           has_name_from(tokens, "__shfl") || has_name_from(tokens, "atomic");
}

} // namespace

IndexUse find_index_use(const UserText &text, const std::vector<KernelArgument> &arguments,
                        UserMacros macros) {
    macros.add(text.preamble);
    macros.add(text.statements);
    const Tokens preamble = macros.expand(tokens_of(text.preamble));
    const Tokens statements = macros.expand(tokens_of(text.statements));

    std::set<std::string, std::less<>> values = {"i", "n"};
    for (const KernelArgument &argument : arguments)
        values.insert(argument.name);
    add_declared(preamble, values);
    add_declared(statements, values);
    const bool plain = includes_only_plain_headers(text.preamble);
    const bool has_reference_functions =
        !plain || std::ranges::any_of(
                      preamble, [](const Token &token) { return token.is("&") || token.is("&&"); });
    const IndexProof proof(statements, values, has_reference_functions);
    const bool holds = plain && !macros.paste() && !macros.rename("i") && proof.holds();

    IndexUse use;
    std::ptrdiff_t at_i = 0;
    for (const KernelArgument &argument : arguments) {
        if (!argument.is_vector())
            continue;
        const std::size_t uses =
            holds && !macros.rename(argument.name) ? proof.only_at_i(argument.name) : 0;
        use.at_i_only.push_back(uses != 0);
        at_i += static_cast<std::ptrdiff_t>(uses);
    }
    use.index_alone = std::ranges::count(statements, "i", &Token::text) != at_i;
    use.may_skip = has_one_of(statements, skipping_words);
    use.minds_threads =
        minds_threads(statements) || minds_threads(preamble) || has_one_of(statements, loop_words);
    return use;
}

} // namespace pycuda
