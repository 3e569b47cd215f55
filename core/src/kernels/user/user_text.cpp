// user_text.cpp -- texts of users in generated sources, and the compiler's errors in these texts.
#include "kernels/user/user_text.h"

#include "compile/compilers/compile_job.h"

#include <stdexcept>

namespace pycuda {
namespace {

constexpr std::string_view file_begin = "\n#line 1 \"";
constexpr std::string_view file_end = "\n#line 1 \"generated\"\n";

using namespace compile_detail;

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

/// `text`, then `end` on the same line, unless the line is or may be a comment or a directive.
std::string ended(std::string_view text, std::string_view end) {
    const std::size_t begin = text.rfind('\n') + 1; // 0 if there is no line break
    const std::string_view line = text.substr(begin);
    const bool takes_end =
        line.find("//") == none && line.find('#') == none && !line.ends_with('\\');
    return std::string(text) + (takes_end ? "" : "\n") + std::string(end);
}

char partner_of(char close) { return close == ')' ? '(' : close == ']' ? '[' : '{'; }

/// "the '{' in column 3 of kernel.operation(1) is not closed" for the first such bracket.
std::optional<std::string> find_lone_bracket(std::string_view text, std::string_view name) {
    struct Bracket {
        char kind;
        std::size_t at;
    };
    const std::string code = blank_comments_and_strings(text);
    const auto place = [&](std::size_t at) {
        const std::size_t line = 1 + static_cast<std::size_t>(std::ranges::count(
                                         std::string_view(code).substr(0, at), '\n'));
        const std::size_t column = at - (at == 0 ? 0 : code.rfind('\n', at - 1) + 1) + 1;
        return std::string("the '") + code[at] + "' in column " + std::to_string(column) + " of " +
               std::string(name) + "(" + std::to_string(line) + ")";
    };
    std::vector<Bracket> open;
    for (std::size_t at = 0; at < code.size(); ++at) {
        const char c = code[at];
        if (c == '(' || c == '[' || c == '{') {
            open.push_back({c, at});
        } else if (c == ')' || c == ']' || c == '}') {
            if (open.empty())
                return place(at) + " closes nothing";
            if (open.back().kind != partner_of(c))
                return place(open.back().at) + " is not closed before " + place(at);
            open.pop_back();
        }
    }
    if (open.empty())
        return std::nullopt;
    return place(open.back().at) + " is not closed";
}

} // namespace

void check_kernel_name(const char *what, std::string_view name) {
    const bool is_name =
        !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, is_word);
    if (!is_name)
        throw std::invalid_argument(std::string(what) + ": the name '" + std::string(name) +
                                    "' is not a name in C; use letters, digits and _");
}

std::string named_text(std::string_view text, const std::string &name) {
    if (is_blank(text))
        return "";
    return std::string(file_begin) + name + "\"\n" + std::string(text) + std::string(file_end);
}

std::string named_statements(std::string_view text, const std::string &name) {
    return is_blank(text) ? "" : named_text(ended(text, ";"), name);
}

std::string return_named(std::string_view text, const std::string &name) {
    return "return (" + named_text(ended(text, ");"), name);
}

std::string one_line(std::string text) {
    // In `code`, comments are blank, and so is all that is between quotes.
    const std::string code = blank_comments_and_strings(text);
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (code[at] == '"' || code[at] == '\'')
            quoted = !quoted;
        else if (!quoted && code[at] == ' ')
            text[at] = ' ';
    }
    std::ranges::replace(text, '\n', ' ');
    std::ranges::replace(text, '\r', ' ');
    return text;
}

CompileError explain_brackets(const CompileError &error, std::string_view source) {
    for (std::size_t at = source.find(file_begin); at != none;
         at = source.find(file_begin, at + 1)) {
        const std::size_t name = at + file_begin.size();
        const std::size_t text = source.find("\"\n", name) + 2;
        const std::string_view named = source.substr(name, text - 2 - name);
        const std::size_t end = source.find(file_begin, text);
        const bool is_users = end != none && source.substr(end).starts_with(file_end) &&
                              !named.ends_with(".cuh") && named != "generated";
        if (!is_users)
            continue;
        // return_named() opens a parenthesis before the text.
        const bool is_returned = source.substr(0, at).ends_with('(');
        std::string_view body = source.substr(text, end - text);
        if (is_returned)
            body.remove_suffix(std::min<std::size_t>(2, body.size()));
        if (std::optional<std::string> lone = find_lone_bracket(body, named))
            return with_message(error, *lone + "; " + error.message());
    }
    return error;
}

} // namespace pycuda
