// debug_parser.h -- the debug information of a module: .file and .section.
#pragma once

#include "ptx/context.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace softcuda::ptx {

/// Keeps the names of files and of inlined functions, and in a module for a debugger all sections.
class DebugParser {
  public:
    explicit DebugParser(Context &context) : context_(context), tokens_(context.tokens) {}

    /// `.file 1 "kernel.cu", 1700000000, 1234`
    void file();
    /// `.section .debug_str { ... }`
    void section();
    /// Call it after the whole text is read: sets the function names of inlined lines.
    void resolve_names();

  private:
    void strings();
    void string_bytes();
    void data();
    [[nodiscard]] bool data_element(DebugSection &section, std::uint32_t bytes);

    Context &context_;
    TokenStream &tokens_;
    std::string bytes_;                                          ///< of .debug_str, so far
    std::unordered_map<std::string_view, std::uint64_t> labels_; ///< their places in it
};

} // namespace softcuda::ptx
