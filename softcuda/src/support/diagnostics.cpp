// diagnostics.cpp -- collects the errors of a source text, and prints them with the source line.
#include "support/diagnostics.h"

#include <algorithm>

namespace softcuda {

namespace {

// A line of generated PTX can be megabytes long; around the caret this much is shown.
constexpr std::size_t shown_width = 160;

std::string_view name_of(Severity severity) {
    return severity == Severity::Error ? "error" : "warning";
}

/// The source line and the caret line below it, cut to a window around the caret.
std::string snippet(std::string_view line, std::size_t column) {
    std::size_t caret = std::min(column - 1, line.size());
    std::size_t begin = caret > shown_width / 2 ? caret - shown_width / 2 : 0;
    if (line.size() <= shown_width)
        begin = 0;
    std::string_view shown = line.substr(begin, shown_width);
    std::string text = "    ";
    std::string pad = "    ";
    for (std::size_t i = 0; i < shown.size(); ++i) {
        auto c = static_cast<unsigned char>(shown[i]);
        bool control = c < 0x20 || c == 0x7f;
        text += c == '\t' ? '\t' : control ? '?' : shown[i];
        if (begin + i < caret)
            pad += c == '\t' ? '\t' : ' ';
    }
    return text + "\n" + pad + "^\n";
}

/// How many bytes the UTF-8 character at the text's start has; 0 if it is none.
std::size_t character_bytes(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = lead < 0x80                   ? 1
                              : lead >= 0xc2 && lead < 0xe0 ? 2
                              : lead >= 0xe0 && lead < 0xf0 ? 3
                              : lead >= 0xf0 && lead < 0xf5 ? 4
                                                            : 0;
    if (bytes > text.size())
        return 0;
    for (std::size_t i = 1; i < bytes; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80)
            return 0;
    // Longer than needed, half of a UTF-16 pair, or behind the last character.
    const auto next = bytes > 2 ? static_cast<unsigned char>(text[1]) : 0u;
    if ((lead == 0xe0 && next < 0xa0) || (lead == 0xed && next >= 0xa0) ||
        (lead == 0xf0 && next < 0x90) || (lead == 0xf4 && next >= 0x90))
        return 0;
    return bytes;
}

/// A log is always valid text: bytes that are not UTF-8 become question marks.
std::string as_utf8(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        result += bytes == 0 ? "?" : text.substr(0, bytes);
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return result;
}

} // namespace

void Diagnostics::error(SourceLocation where, std::string message, std::string note) {
    add({Severity::Error, where, std::move(message), std::move(note)});
}

void Diagnostics::warning(SourceLocation where, std::string message, std::string note) {
    add({Severity::Warning, where, std::move(message), std::move(note)});
}

void Diagnostics::add(Diagnostic diagnostic) {
    if (diagnostic.severity == Severity::Error)
        ++error_count_;
    if (list_.size() < limit_)
        list_.push_back(std::move(diagnostic));
}

std::string Diagnostics::headline(const Diagnostic &diagnostic) const {
    SourceText::Position at = source_.position(diagnostic.location);
    return source_.name() + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " +
           std::string(name_of(diagnostic.severity)) + ": " + diagnostic.message;
}

std::string Diagnostics::render() const {
    std::vector<const Diagnostic *> ordered;
    for (const Diagnostic &diagnostic : list_)
        ordered.push_back(&diagnostic);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Diagnostic *a, const Diagnostic *b) {
        return a->location.offset < b->location.offset;
    });
    std::string text;
    std::size_t shown_errors = 0;
    for (const Diagnostic *diagnostic : ordered) {
        SourceText::Position at = source_.position(diagnostic->location);
        text += headline(*diagnostic) + "\n" + snippet(source_.line(at.line), at.column);
        if (!diagnostic->note.empty())
            text += "    note: " + diagnostic->note + "\n";
        shown_errors += diagnostic->severity == Severity::Error;
    }
    if (error_count_ > shown_errors)
        text += "... and " + std::to_string(error_count_ - shown_errors) + " more errors\n";
    return as_utf8(text);
}

} // namespace softcuda
