// source_wrap.cpp -- wraps a source in extern "C" without changing its line numbers.
#include "compile/source/source_wrap.h"

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

/// The number of opening braces minus the number of closing braces.
std::ptrdiff_t depth_change(std::string_view blanked) {
    return std::ranges::count(blanked, '{') - std::ranges::count(blanked, '}');
}

std::size_t count_lines(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Whether a blanked text contains no code: only blanks, #define, #pragma and #undef.
bool is_plain_space(std::string_view blanked) {
    while (!blanked.empty()) {
        std::string_view line = take_line(blanked);
        line.remove_prefix(skip_space(line, 0));
        if (line.empty())
            continue;
        const bool is_setting = line.starts_with("#define ") || line.starts_with("#undef ") ||
                                line.starts_with("#pragma ");
        if (!is_setting || line.ends_with('\\'))
            return false;
    }
    return true;
}

/// Whether no construct that begins in the line can continue in the text after the line.
bool ends_cleanly(std::string_view line, std::string_view blanked_line) {
    std::size_t comment = line.rfind("/*");
    bool open_comment =
        comment != std::string_view::npos && line.find("*/", comment) == std::string_view::npos;
    bool continued = blanked_line.ends_with('\\') || blanked_line.ends_with("\\\r");
    return !open_comment && !continued;
}

} // namespace

std::size_t leading_directives(std::string_view source, const IsOutside &is_outside) {
    const std::string blanked = blank_comments_and_strings(source);
    std::size_t position = 0; // up to here, only directives
    std::size_t leading = 0;
    for (const IncludeDirective &include : find_includes(source, blanked)) {
        if (include.line_begin < position)
            continue; // the second directive of a line
        const std::string_view between =
            std::string_view(blanked).substr(position, include.line_begin - position);
        const std::string_view line =
            source.substr(include.line_begin, include.line_end - include.line_begin);
        const std::string_view blanked_line =
            std::string_view(blanked).substr(include.line_begin, line.size());
        if (!is_plain_space(between) || include.only_asks || !ends_cleanly(line, blanked_line) ||
            !is_outside(include))
            break;
        position = leading = std::min(include.line_end + 1, source.size());
    }
    return leading;
}

std::string wrap_in_extern_c(std::string_view source, std::string_view name,
                             const IsOutside &is_outside, std::size_t leading) {
    const std::string blanked_text = blank_comments_and_strings(source);
    const std::string_view blanked = blanked_text;
    std::size_t done = leading, line = 1 + count_lines(source.substr(0, leading));
    std::string wrapped(source.substr(0, leading));
    wrapped += "extern \"C\" {\n" + line_directive(line, name);
    std::ptrdiff_t depth = 0;

    for (const IncludeDirective &include : find_includes(source, blanked)) {
        if (include.only_asks || include.line_begin < leading)
            continue;
        std::string_view before = source.substr(done, include.line_begin - done);
        depth += depth_change(blanked.substr(done, before.size()));
        line += count_lines(before);
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

std::string name_source(std::string_view source, std::string_view name, std::size_t leading) {
    const std::string_view first = source.substr(0, leading);
    return std::string(first) + line_directive(1 + count_lines(first), name) +
           std::string(source.substr(leading));
}

} // namespace pycuda::compile_detail
