// suppression.cpp -- reads the file once.
#include "check/suppression.h"

#include "support/readable_name.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace softcuda::check {
namespace {

using Pattern = std::array<std::string, 5>; // mode, kind, kernel, file, line

Pattern parse(const std::string &line) {
    Pattern pattern;
    pattern.fill("*");
    std::size_t begin = 0;
    for (std::string &part : pattern) {
        const std::size_t end =
            &part == &pattern.back() ? std::string::npos : line.find(':', begin);
        part = line.substr(begin, end == std::string::npos ? end : end - begin);
        if (end == std::string::npos)
            break;
        begin = end + 1;
    }
    pattern[2] = readable_name(pattern[2]);
    return pattern;
}

std::vector<Pattern> read() {
    std::vector<Pattern> patterns;
    const char *path = std::getenv("SOFTCUDA_CHECK_SUPPRESS");
    if (!path || !*path)
        return patterns;
    std::ifstream file(path);
    if (!file)
        std::fprintf(stderr, "softcuda: SOFTCUDA_CHECK_SUPPRESS: cannot read %s\n", path);
    for (std::string line; std::getline(file, line);) {
        line.erase(std::min(line.find('#'), line.size()));
        const std::size_t end = line.find_last_not_of(" \t\r");
        if (end != std::string::npos)
            patterns.push_back(parse(line.substr(0, end + 1)));
    }
    return patterns;
}

/// `*` in the pattern matches any text.
bool matches(std::string_view pattern, std::string_view text) {
    if (pattern.empty())
        return text.empty();
    if (pattern.front() != '*')
        return !text.empty() && text.front() == pattern.front() &&
               matches(pattern.substr(1), text.substr(1));
    for (std::size_t skip = 0; skip <= text.size(); ++skip)
        if (matches(pattern.substr(1), text.substr(skip)))
            return true;
    return false;
}

bool matches(const Pattern &pattern, const Finding &finding) {
    if (!matches(pattern[0], name(finding.mode)) || !matches(pattern[1], name(finding.kind)) ||
        !matches(pattern[2], finding.kernel))
        return false;
    if (finding.accesses.empty())
        return pattern[3] == "*" && pattern[4] == "*";
    for (const FoundAccess &access : finding.accesses)
        if (matches(pattern[3], access.file) && matches(pattern[4], std::to_string(access.line)))
            return true;
    return false;
}

} // namespace

bool is_suppressed(const Finding &finding) {
    static const auto *const patterns = new std::vector<Pattern>(read());
    for (const Pattern &pattern : *patterns)
        if (matches(pattern, finding))
            return true;
    return false;
}

} // namespace softcuda::check
