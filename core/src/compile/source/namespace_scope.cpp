// namespace_scope.cpp -- the statements of a source that are outside functions and classes.
#include "compile/source/namespace_scope.h"

#include "compile/source/source_text.h"

namespace pycuda::compile_detail {
namespace {

/// Blanks the lines of directives, with their continuations.
void blank_directives(std::string &text) {
    bool inside = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line(text.data() + begin, end - begin);
        const std::size_t first = line.find_first_not_of(" \t\r");
        const bool is_directive = inside || (first != none && line[first] == '#');
        inside = is_directive && (line.ends_with('\\') || line.ends_with("\\\r"));
        if (is_directive)
            std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin), end - begin, ' ');
        begin = end + 1;
    }
}

constexpr std::string_view class_keys[] = {"struct", "class", "union", "enum"};
constexpr std::string_view attributes[] = {"__align__", "__attribute__", "alignas", "__declspec"};

/// Whether the words before a brace begin a class, and not a function that returns one.
bool is_class(const Specifiers &read) {
    const bool has_key = std::ranges::any_of(
        read.words, [](const Word &word) { return has_any(class_keys, word.text); });
    if (!has_key || read.stop != '(')
        return has_key;
    // struct __align__(8) pair {         struct pair *make(int first) {
    const std::size_t last = read.words.size() - 1;
    return has_any(attributes, read.words[last].text) || last < 2;
}

class Walker {
  public:
    explicit Walker(std::string_view blanked) : text_(blanked) {}

    std::vector<ScopeStatement> run() {
        while (at_ < text_.size())
            step();
        return std::move(found_);
    }

  private:
    void step() {
        const char c = text_[at_];
        if (c == ';') {
            end_statement(at_ + 1, false);
        } else if (c == '{') {
            open_brace();
        } else if (c == '}') { // of a namespace
            begin_ = ++at_;
            has_class_ = false;
        } else if (c == '(' || c == '[') {
            const std::size_t close = closing_bracket(text_, at_);
            at_ = close == none ? text_.size() : close + 1;
        } else {
            ++at_;
        }
    }

    void end_statement(std::size_t end, bool is_function_body) {
        found_.push_back({begin_, end, is_function_body, has_class_});
        begin_ = at_ = end;
        has_class_ = false;
    }

    void open_brace() {
        const std::string_view before = text_.substr(begin_, at_ - begin_);
        const Specifiers read = read_specifiers(text_, begin_, at_);
        const bool is_linkage =
            before.find('"') != none && read.words.size() == 1 && read.words[0].text == "extern";
        const bool is_namespace = std::ranges::any_of(
            read.words, [](const Word &word) { return word.text == "namespace"; });
        if (is_linkage || is_namespace) {
            begin_ = ++at_;
            return;
        }
        const bool is_for_member = initialises_member(read);
        const std::size_t close = closing_bracket(text_, at_);
        at_ = close == none ? text_.size() : close + 1;
        if (is_for_member)
            return;
        // The body of a function ends its statement; a class and an initialiser do not.
        const bool is_operator = !read.words.empty() && read.words.back().text == "operator";
        const std::size_t last = before.find_last_not_of(" \t\r\n\f\v");
        const bool follows_equals = last != none && before[last] == '='; // struct pair a[] = {
        const bool is_value = (read.stop == '=' || follows_equals) && !is_operator;
        has_class_ |= !is_value && is_class(read);
        if (before.find('(') != none && !is_value && !has_class_)
            end_statement(at_, true);
    }

    /// Whether the brace at at_ is that of `b{2}` in `Pair::Pair() : a(1), b{2} {}`.
    bool initialises_member(const Specifiers &read) const {
        const std::size_t before = text_.find_last_not_of(" \t\r\n\f\v", at_ - 1);
        if (read.stop != '(' || before == none || !(is_word(text_[before]) || text_[before] == '>'))
            return false;
        const std::size_t close = closing_bracket(text_, read.end);
        for (std::size_t at = close; at < before; ++at)
            if (text_[at] == ':' && text_[at - 1] != ':' && text_[at + 1] != ':')
                return true;
        return false;
    }

    std::string_view text_;
    std::vector<ScopeStatement> found_;
    std::size_t begin_ = 0, at_ = 0;
    bool has_class_ = false; // in the current statement
};

constexpr std::string_view words_of_the_device[] = {"__global__", "__device__", "__constant__",
                                                    "__shared__", "__managed__"};
constexpr std::string_view words_of_the_host[] = {
    "__host__", "inline",       "static",        "extern",         "__inline__",
    "__inline", "__noinline__", "__attribute__", "noinline",       "always_inline",
    "unused",   "noexcept",     "__forceinline", "__forceinline__"};

/// Cuts the first word from a text; empty at its end.
std::string_view next_word(std::string_view &text) {
    std::size_t begin = 0;
    while (begin < text.size() && !is_word(text[begin]))
        ++begin;
    const std::string_view word = word_at(text, begin);
    text.remove_prefix(begin + word.size());
    return word;
}

} // namespace

Specifiers read_specifiers(std::string_view text, std::size_t begin, std::size_t end) {
    Specifiers read;
    int angles = 0;
    for (std::size_t at = begin; at < end;) {
        if (is_word(text[at])) {
            const std::string_view word = word_at(text.substr(0, end), at);
            if (angles == 0)
                read.words.push_back({at, word});
            at += word.size();
            continue;
        }
        const char c = text[at];
        angles += (c == '<') - (c == '>');
        if (angles == 0 && (c == '=' || c == '{' || c == '(' || c == '[' || c == ',')) {
            read.end = at;
            read.stop = c;
            return read;
        }
        read.has_declarator_of_pointer |= angles == 0 && (c == '*' || c == '&');
        ++at;
    }
    read.end = end;
    return read;
}

std::string blank_all_but_code(std::string_view text) {
    std::string blanked = blank_comments_and_strings(text);
    blank_directives(blanked);
    return blanked;
}

std::vector<ScopeStatement> statements_at_namespace_scope(std::string_view blanked) {
    return Walker(blanked).run();
}

void SpecifierMacros::add(std::string_view blanked) {
    for (std::size_t at = blanked.find("define"); at != none; at = blanked.find("define", at + 1)) {
        const std::size_t begin = blanked.rfind('\n', at) + 1; // 0 in the first line
        const std::size_t first = blanked.find_first_not_of(" \t", begin);
        std::size_t end = std::min(blanked.find('\n', at), blanked.size());
        while (end > at && end < blanked.size() && blanked[end - 1] == '\\')
            end = std::min(blanked.find('\n', end + 1), blanked.size());
        if (blanked[first] == '#')
            add_line(blanked.substr(first + 1, end - first - 1));
    }
}

void SpecifierMacros::add_line(std::string_view line) {
    if (next_word(line) != "define")
        return;
    const std::string_view name = next_word(line);
    const bool has_parameters = line.starts_with('(');
    bool is_host = !has_parameters && !name.empty();
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
        if (is_for_device(word)) {
            device_.emplace(name);
            return;
        }
        is_host &= has_any(words_of_the_host, word) || is_for_host(word);
    }
    if (is_host)
        host_.emplace(name);
}

bool SpecifierMacros::is_for_device(std::string_view word) const {
    return has_any(words_of_the_device, word) || device_.contains(word);
}

bool SpecifierMacros::is_for_host(std::string_view word) const {
    return host_.contains(word) && !device_.contains(word);
}

} // namespace pycuda::compile_detail
