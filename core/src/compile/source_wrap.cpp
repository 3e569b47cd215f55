// source_wrap.cpp -- putting a source into extern "C" without moving its line numbers.
#include "source_wrap.h"

#include <algorithm>

namespace pycuda::compile_detail {
namespace {

std::string line_directive(std::size_t line, std::string_view name) {
    std::string text = "#line " + std::to_string(line) + " \"";
    for (char c : name) {
        if (c == '"' || c == '\\')
            text += '\\';
        text += c;
    }
    return text + "\"\n";
}

/// Braces open minus braces closed.
std::ptrdiff_t depth_change(std::string_view blanked) {
    return std::ranges::count(blanked, '{') - std::ranges::count(blanked, '}');
}

/// Whether text that follows the line could still belong to something begun on it.
bool ends_cleanly(std::string_view line, std::string_view blanked_line) {
    std::size_t comment = line.rfind("/*");
    bool open_comment =
        comment != std::string_view::npos && line.find("*/", comment) == std::string_view::npos;
    bool continued = blanked_line.ends_with('\\') || blanked_line.ends_with("\\\r");
    return !open_comment && !continued;
}

} // namespace

std::string wrap_in_extern_c(std::string_view source, std::string_view name,
                             const std::function<bool(const IncludeDirective &)> &is_outside) {
    const std::string blanked_text = blank_comments_and_strings(source);
    const std::string_view blanked = blanked_text;
    std::string wrapped = "extern \"C\" {\n" + line_directive(1, name);
    std::size_t done = 0, line = 1;
    std::ptrdiff_t depth = 0;

    for (const IncludeDirective &include : find_includes(source, blanked)) {
        if (include.only_asks)
            continue;
        std::string_view before = source.substr(done, include.line_begin - done);
        depth += depth_change(blanked.substr(done, before.size()));
        line += static_cast<std::size_t>(std::ranges::count(before, '\n'));
        wrapped += before;
        done = include.line_begin;

        std::size_t size = include.line_end - include.line_begin;
        std::string_view text = source.substr(done, size);
        if (depth != 0 || !ends_cleanly(text, blanked.substr(done, size)) || !is_outside(include))
            continue;
        wrapped += "extern \"C++\" {\n" + line_directive(line, name);
        wrapped += text;
        wrapped += "\n}\n" + line_directive(line + 1, name);
        done = std::min(include.line_end + 1, source.size());
        ++line;
    }
    wrapped += source.substr(done);
    return wrapped + "\n}\n";
}

std::string name_source(std::string_view source, std::string_view name) {
    return line_directive(1, name) + std::string(source);
}

} // namespace pycuda::compile_detail
