// source.cpp -- a source text with a name, and locations in the text.
#include "support/source.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace softcuda {

SourceText::SourceText(std::string name, std::string_view text) : name_(std::move(name)) {
    text_ = text.substr(0, text.find('\0'));
    if (text_.size() >= std::numeric_limits<std::uint32_t>::max())
        throw std::length_error("source text of " + std::to_string(text_.size()) +
                                " bytes, expected less than 4 GiB");
    line_starts_.push_back(0);
    for (std::size_t end = text_.find('\n'); end != std::string::npos;
         end = text_.find('\n', end + 1))
        line_starts_.push_back(static_cast<std::uint32_t>(end + 1));
}

SourceText::Position SourceText::position(SourceLocation location) const {
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), location.offset);
    auto line = static_cast<unsigned>(after - line_starts_.begin());
    return {line, location.offset - line_starts_[line - 1] + 1};
}

std::string_view SourceText::line(unsigned number) const {
    if (number == 0 || number > line_starts_.size())
        return {};
    std::string_view rest = text().substr(line_starts_[number - 1]);
    return rest.substr(0, rest.find_first_of("\r\n"));
}

} // namespace softcuda
