// line_table.h -- which line of the source a place in machine code is for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softcuda::jit {

struct SourceLine {
    std::string file;
    std::uint32_t line = 0, column = 0;
};

/// The line tables of one object (debug_data/source_lines.h). Read when they are first asked.
class LineTable {
  public:
    explicit LineTable(std::span<const char> object) : object_(object.begin(), object.end()) {}

    /// The line for the instruction at `offset` in the object's code; code that stands for no line
    /// counts to the one before it. Nothing where there is none, or the object is damaged.
    [[nodiscard]] std::optional<SourceLine> find(std::uint64_t offset) const;

    struct Row {
        std::uint64_t offset = 0; ///< in the object's code
        SourceLine place;
    };
    /// All places where another line begins, by offset. Code for no line has none.
    [[nodiscard]] std::vector<Row> rows() const;

  private:
    std::vector<char> object_;
};

} // namespace softcuda::jit
