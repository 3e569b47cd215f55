// debug_parser.cpp -- reads the debug information of a module.
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
    if (context_.module.target.debug) {
        context_.module.debug_sections.push_back({name.text, {}, {}, {}});
        data();
        const DebugSection &section = context_.module.debug_sections.back();
        if (name.is(".debug_str")) {
            bytes_ = section.bytes;
            labels_ = section.labels;
        }
    } else if (name.is(".debug_str")) {
        strings();
    } else {
        tokens_.skip_block();
    }
}

/// Any section. Unknown text ends its bytes: debug data never keep a program from
/// running.
void DebugParser::data() {
    DebugSection &section = context_.module.debug_sections.back();
    tokens_.expect("{");
    bool understood = true;
    while (!tokens_.at("}") && !tokens_.at(TokenKind::End)) {
        if (tokens_.at("{")) {
            tokens_.skip_block();
            understood = false;
            continue;
        }
        const Token token = tokens_.take();
        const std::uint32_t bytes = token.is(".b8")    ? 1
                                    : token.is(".b16") ? 2
                                    : token.is(".b32") ? 4
                                    : token.is(".b64") ? 8
                                                       : 0;
        if (!understood)
            continue;
        if (token.is(TokenKind::Identifier) && tokens_.accept(":")) {
            section.labels.emplace(token.text, section.bytes.size());
            continue;
        }
        understood = bytes != 0;
        while (understood) {
            understood = data_element(section, bytes);
            if (!understood || !tokens_.accept(","))
                break;
        }
    }
    tokens_.expect("}");
}

/// `12`, `-3`, `$L__tmp4`, `.debug_loc+250`.
bool DebugParser::data_element(DebugSection &section, std::uint32_t bytes) {
    std::uint64_t value = 0;
    const bool negative = tokens_.accept("-");
    if (tokens_.at(TokenKind::Integer)) {
        value = tokens_.take().value;
        value = negative ? 0 - value : value;
    } else if (!negative && (tokens_.at(TokenKind::Identifier) || tokens_.at(TokenKind::Dotted))) {
        DebugReference reference{section.bytes.size(), bytes, tokens_.take().text, 0};
        if (tokens_.accept("+")) {
            if (!tokens_.at(TokenKind::Integer))
                return false;
            reference.addend = tokens_.take().value;
        }
        section.references.push_back(reference);
    } else {
        return false;
    }
    for (std::uint32_t i = 0; i < bytes; ++i)
        section.bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return true;
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
