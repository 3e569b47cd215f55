// debug_parser.cpp -- what a module says about its source.
#include "ptx/debug_parser.h"

#include "ptx/expression.h"

#include <limits>

namespace softcuda::ptx {

void DebugParser::file() {
    tokens_.take();
    std::uint64_t index =
        tokens_.expect_integer("the number of a file", std::numeric_limits<std::uint32_t>::max());
    Token name = tokens_.expect(TokenKind::String, "the name of a file");
    while (tokens_.accept(",")) // its time and size
        tokens_.expect(TokenKind::Integer, "a number");
    context_.module.files.push_back({static_cast<std::uint32_t>(index), name.text});
}

void DebugParser::section() {
    tokens_.take();
    Token name = tokens_.expect(TokenKind::Dotted, "the name of a section");
    if (!tokens_.at("{"))
        tokens_.fail_expected("`{`");
    if (name.is(".debug_str"))
        strings();
    else
        tokens_.skip_block();
}

/// `label: .b8 102, 111, 111, 0` ...
void DebugParser::strings() {
    tokens_.expect("{");
    while (!tokens_.at("}")) {
        if (tokens_.at(TokenKind::Identifier)) {
            labels_.emplace(tokens_.take().text, bytes_.size());
            tokens_.expect(":");
        } else if (tokens_.accept(".b8")) {
            string_bytes();
        } else {
            tokens_.fail_expected("a label or `.b8`");
        }
    }
    tokens_.expect("}");
}

void DebugParser::string_bytes() {
    do
        bytes_ += static_cast<char>(parse_integer_constant(tokens_).bits);
    while (tokens_.accept(","));
}

void DebugParser::resolve_names() {
    if (bytes_.empty())
        return;
    std::string_view kept = context_.module.arena.copy(bytes_);
    for (const InlinedName &name : context_.inlined_names) {
        auto label = labels_.find(name.label);
        if (label == labels_.end() || name.offset > kept.size() - label->second)
            continue;
        std::string_view text = kept.substr(label->second + name.offset);
        LineInfo &line = context_.module.functions[name.function].lines[name.line];
        line.function_name = text.substr(0, text.find('\0'));
    }
}

} // namespace softcuda::ptx
