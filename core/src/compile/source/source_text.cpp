// source_text.cpp -- reads C++ source without a compiler.
#include "compile/source/source_text.h"

#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>

namespace pycuda::compile_detail {
namespace {

/// Reads the source once and writes a copy with blanked comments and strings.
class Blanker {
  public:
    explicit Blanker(std::string_view source) : source_(source), text_(source) {}

    std::string run() {
        while (at_ < source_.size())
            step();
        return std::move(text_);
    }

  private:
    void step() {
        char c = source_[at_];
        if (starts_with("//"))
            blank_line_comment();
        else if (starts_with("/*"))
            blank_until("*/", 2);
        else if (c == '"' && is_raw_string())
            blank_raw_string();
        else if (c == '"' || (c == '\'' && !is_digit_separator()))
            blank_literal(c);
        else
            ++at_;
    }

    bool starts_with(std::string_view what) const { return source_.substr(at_).starts_with(what); }

    // A quote inside a number, as in 1'000'000, does not begin a literal.
    bool is_digit_separator() const {
        return at_ > 0 && at_ + 1 < source_.size() && std::isxdigit(byte(at_ - 1)) &&
               std::isxdigit(byte(at_ + 1)) && number_begins_before();
    }

    bool number_begins_before() const {
        std::size_t i = at_;
        while (i > 0 && (std::isalnum(byte(i - 1)) || source_[i - 1] == '\''))
            --i;
        return std::isdigit(byte(i)) != 0;
    }

    bool is_raw_string() const {
        if (at_ == 0 || source_[at_ - 1] != 'R')
            return false;
        constexpr std::string_view prefixes[] = {"R", "uR", "UR", "LR", "u8R"};
        return has_any(prefixes, word_before(source_, at_));
    }

    void blank_line_comment() {
        while (at_ < source_.size() && source_[at_] != '\n') {
            if (source_[at_] == '\\' && at_ + 1 < source_.size() && source_[at_ + 1] == '\n')
                blank(), ++at_; // a continued comment; the line break is kept
            else
                blank();
        }
    }

    void blank_until(std::string_view end, std::size_t begin_size) {
        std::size_t found = source_.find(end, at_ + begin_size);
        std::size_t stop = found == none ? source_.size() : found + end.size();
        while (at_ < stop)
            blank();
    }

    void blank_raw_string() {
        std::size_t open = source_.find('(', at_);
        if (open == none || open - at_ > 17) {
            ++at_;
            return;
        }
        std::string end = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
        ++at_;
        blank_until(end, 0);
        text_[at_ - 1] = '"';
    }

    void blank_literal(char quote) {
        ++at_;
        while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
            if (source_[at_] == '\\' && at_ + 1 < source_.size())
                blank();
            blank();
        }
        if (at_ < source_.size() && source_[at_] == quote)
            ++at_;
    }

    void blank() {
        if (at_ < source_.size() && source_[at_] != '\n')
            text_[at_] = ' ';
        ++at_;
    }

    unsigned char byte(std::size_t i) const { return static_cast<unsigned char>(source_[i]); }

    std::string_view source_;
    std::string text_;
    std::size_t at_ = 0;
};

std::size_t skip_blanks(std::string_view text, std::size_t at, std::size_t end) {
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        ++at;
    return at;
}

/// Reads `<name>` or `"name"` at `at` of the original text.
IncludeDirective read_operand(std::string_view source, std::size_t at, std::size_t end) {
    IncludeDirective include;
    at = skip_blanks(source, at, end);
    char open = at < end ? source[at] : '\0';
    char close = open == '<' ? '>' : '"';
    std::size_t stop = open == '<' || open == '"' ? source.find(close, at + 1) : end;
    if (stop >= end) {
        include.form = IncludeDirective::Form::Computed;
        return include;
    }
    include.form = open == '<' ? IncludeDirective::Form::Angled : IncludeDirective::Form::Quoted;
    include.name = source.substr(at + 1, stop - at - 1);
    return include;
}

void add_has_includes(std::string_view source, std::string_view blanked, std::size_t begin,
                      std::size_t end, std::vector<IncludeDirective> &includes) {
    constexpr std::string_view word = "__has_include";
    for (std::size_t at = blanked.find(word, begin); at < end; at = blanked.find(word, at + 1)) {
        std::size_t open = skip_blanks(blanked, at + word.size(), end);
        if (open >= end || blanked[open] != '(')
            continue; // `defined(__has_include)`
        IncludeDirective include = read_operand(source, open + 1, end);
        if (include.form == IncludeDirective::Form::Computed)
            continue;
        include.line_begin = begin;
        include.line_end = end;
        include.only_asks = true;
        includes.push_back(std::move(include));
    }
}

void add_directive(std::string_view source, std::string_view blanked, std::size_t begin,
                   std::size_t end, std::vector<IncludeDirective> &includes) {
    std::size_t at = skip_blanks(blanked, begin, end);
    if (at >= end || blanked[at] != '#')
        return;
    at = skip_blanks(blanked, at + 1, end);
    const std::string_view word = word_at(blanked, at);
    if (word == "if" || word == "elif") {
        add_has_includes(source, blanked, begin, end, includes);
        return;
    }
    if (word != "include" && word != "include_next" && word != "import")
        return;
    // Blanks the comments after the word and reads the operand from the original text.
    IncludeDirective include =
        read_operand(source, skip_blanks(blanked, at + word.size(), end), end);
    include.line_begin = begin;
    include.line_end = end;
    include.only_once = word == "import";
    includes.push_back(std::move(include));
}

} // namespace

std::string blank_comments_and_strings(std::string_view source) { return Blanker(source).run(); }

std::vector<IncludeDirective> find_includes(std::string_view source, std::string_view blanked) {
    std::vector<IncludeDirective> includes;
    std::size_t begin = 0;
    while (begin < source.size()) {
        std::size_t end = std::min(blanked.find('\n', begin), source.size());
        add_directive(source, blanked, begin, end, includes);
        begin = end + 1;
    }
    return includes;
}

std::size_t skip_space(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_space(text[at]))
        ++at;
    return at;
}

std::string_view trimmed(std::string_view text) noexcept {
    text.remove_prefix(skip_space(text, 0));
    while (!text.empty() && is_space(text.back()))
        text.remove_suffix(1);
    return text;
}

std::string_view word_at(std::string_view text, std::size_t at) noexcept {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end]))
        ++end;
    return text.substr(std::min(at, text.size()), end - at);
}

std::string_view word_before(std::string_view text, std::size_t end) noexcept {
    while (end > 0 && is_space(text[end - 1]))
        --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1]))
        --begin;
    return text.substr(begin, end - begin);
}

std::string_view take_line(std::string_view &text) noexcept {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

bool has_word(std::string_view text, std::string_view word) {
    bool found = false;
    for_each_place(text, word, [&](std::size_t) { found = true; });
    return found;
}

std::optional<std::string> edited(std::string_view text, std::vector<Edit> edits) {
    if (edits.empty())
        return std::nullopt;
    std::ranges::stable_sort(edits, {}, &Edit::begin);
    std::string result;
    std::size_t done = 0;
    for (const Edit &edit : edits) {
        result += text.substr(done, edit.begin - done);
        result += edit.text;
        done = edit.end;
    }
    return result += text.substr(done);
}

std::optional<std::string> with_names_in_ascii(std::string_view source) {
    const std::string blanked = blank_comments_and_strings(source);
    std::vector<Edit> edits;
    for (std::size_t at = 0; at < blanked.size(); ++at) {
        const auto first = static_cast<unsigned char>(blanked[at]);
        if (first < 0xc0) // the first byte of a letter in UTF-8 begins with two ones
            continue;
        const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        std::uint32_t letter = first & (0x3fu >> more);
        std::size_t end = at + 1;
        while (end < blanked.size() && (blanked[end] & 0xc0) == 0x80 && end <= at + more)
            letter = letter << 6 | (static_cast<unsigned char>(blanked[end++]) & 0x3fu);
        std::array<char, 11> text{};
        std::snprintf(text.data(), text.size(), letter > 0xffff ? "\\U%08x" : "\\u%04x", letter);
        edits.push_back({at, end, text.data()});
        at = end - 1;
    }
    return edited(source, std::move(edits));
}

void replace_all(std::string &text, std::string_view word, std::string_view by) {
    for (std::size_t at = text.find(word); at != none; at = text.find(word, at + by.size()))
        text.replace(at, word.size(), by);
}

std::size_t closing_bracket(std::string_view blanked, std::size_t open) noexcept {
    int depth = 0;
    for (std::size_t at = open; at < blanked.size(); ++at) {
        const char c = blanked[at];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (depth == 0)
            return at;
    }
    return none;
}

} // namespace pycuda::compile_detail
