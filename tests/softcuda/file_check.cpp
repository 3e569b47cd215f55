// file_check.cpp -- compares a program's output with the CHECK lines of a test file.
#include "file_check.h"

#include <cctype>
#include <regex>
#include <vector>

namespace softcuda::test {

namespace {

enum class Kind { Check, Next, Not };

struct Expectation {
    Kind kind;
    std::string text;
    std::regex pattern;
    unsigned line;
};

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        lines.push_back(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return lines;
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    return text;
}

std::string single_blanks(std::string_view text) {
    std::string out;
    for (char c : trim(text)) {
        if (!std::isspace(static_cast<unsigned char>(c)))
            out += c;
        else if (out.empty() || out.back() != ' ')
            out += ' ';
    }
    return out;
}

std::string quote(std::string_view literal) {
    std::string out;
    for (char c : literal) {
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != ' ' && c != '_')
            out += '\\';
        out += c;
    }
    return out;
}

std::regex to_pattern(std::string_view text) {
    std::string pattern;
    for (;;) {
        std::size_t open = text.find("{{"), close = text.find("}}", open);
        if (open == text.npos || close == text.npos)
            return std::regex(pattern + quote(text));
        pattern += quote(text.substr(0, open));
        pattern += "(?:" + std::string(text.substr(open + 2, close - open - 2)) + ")";
        text.remove_prefix(close + 2);
    }
}

bool strip_prefix(std::string_view &text, std::string_view prefix) {
    if (!text.starts_with(prefix))
        return false;
    text.remove_prefix(prefix.size());
    return true;
}

std::vector<Expectation> expectations(std::string_view test, std::string_view comment) {
    std::vector<Expectation> found;
    unsigned number = 0;
    for (std::string_view line : split_lines(test)) {
        number++;
        line = trim(line);
        if (!strip_prefix(line, comment))
            continue;
        line = trim(line);
        Kind kind = Kind::Check;
        if (strip_prefix(line, "CHECK-NEXT:"))
            kind = Kind::Next;
        else if (strip_prefix(line, "CHECK-NOT:"))
            kind = Kind::Not;
        else if (!strip_prefix(line, "CHECK:"))
            continue;
        std::string text = single_blanks(line);
        found.push_back({kind, text, to_pattern(text), number});
    }
    return found;
}

/// Matches the output with the expectations, in order.
class Matcher {
  public:
    explicit Matcher(std::string_view output) {
        for (std::string_view line : split_lines(output))
            lines_.push_back(single_blanks(line));
    }

    std::string apply(const Expectation &expected) {
        if (expected.kind == Kind::Not) {
            forbidden_.push_back(&expected);
            return {};
        }
        std::size_t at = next_;
        if (expected.kind == Kind::Check) {
            while (at < lines_.size() && !std::regex_search(lines_[at], expected.pattern))
                at++;
        }
        if (at >= lines_.size() || !std::regex_search(lines_[at], expected.pattern))
            return message(expected, "not found", at < lines_.size() ? at : next_);
        std::string unwanted = check_forbidden(at);
        next_ = at + 1;
        return unwanted;
    }

    std::string finish() { return check_forbidden(lines_.size()); }

  private:
    std::string check_forbidden(std::size_t end) {
        for (const Expectation *expected : forbidden_) {
            for (std::size_t i = next_; i < end; i++) {
                if (std::regex_search(lines_[i], expected->pattern))
                    return message(*expected, "found, but must not be", i);
            }
        }
        forbidden_.clear();
        return {};
    }

    std::string message(const Expectation &expected, const char *what, std::size_t at) {
        return "line " + std::to_string(expected.line) + ": \"" + expected.text + "\" " + what +
               (at < lines_.size() ? " at: " + lines_[at] : " before the end");
    }

    std::vector<std::string> lines_;
    std::size_t next_ = 0;
    std::vector<const Expectation *> forbidden_;
};

} // namespace

std::string file_check(std::string_view test, std::string_view comment, std::string_view output) {
    std::vector<Expectation> all = expectations(test, comment);
    if (all.empty())
        return "the test has no CHECK line";
    Matcher matcher(output);
    for (const Expectation &expected : all) {
        if (std::string failure = matcher.apply(expected); !failure.empty())
            return failure;
    }
    return matcher.finish();
}

std::string directive(std::string_view test, std::string_view comment, std::string_view keyword) {
    for (std::string_view line : split_lines(test)) {
        line = trim(line);
        if (!strip_prefix(line, comment))
            continue;
        line = trim(line);
        if (strip_prefix(line, keyword) && strip_prefix(line, ":"))
            return std::string(trim(line));
    }
    return {};
}

} // namespace softcuda::test
