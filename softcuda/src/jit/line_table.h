// line_table.h -- maps positions in machine code to lines of the source.
#pragma once

#include "jit/strip_code.h"

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

/// The line tables of one object (debug_data/source_lines.h). Read at the first query.
class LineTable {
  public:
    explicit LineTable(std::span<const char> object) : object_(without_code(object)) {}

    /// The line of the instruction at `offset` in the object's code. Code without a line belongs to
    /// the line before it. Empty if there is no line, or if the object is damaged.
    [[nodiscard]] std::optional<SourceLine> find(std::uint64_t offset) const;

    struct Row {
        std::uint64_t offset = 0; ///< in the object's code
        SourceLine place;
    };
    /// All positions where a line begins, by offset. Code without a line has no row.
    [[nodiscard]] std::vector<Row> rows() const;

  private:
    std::vector<char> object_;
};

} // namespace softcuda::jit
