// diagnostics.h -- collects the errors of a source text, and prints them with the source line.
#pragma once

#include "support/source.h"

#include <cstddef>
#include <string>
#include <vector>

namespace softcuda {

enum class Severity { Error, Warning };

struct Diagnostic {
    Severity severity;
    SourceLocation location;
    std::string message;
    std::string note; ///< a second line that helps: "did you mean `%r12`?"; may be empty
};

/// Collects diagnostics for one text; keeps the first `limit` and counts the others.
///
///     kernel.ptx:7:13: error: instruction `add` has no modifier `.foo`
///         add.foo.s32 %r1, %r2, 1;
///            ^
class Diagnostics {
  public:
    explicit Diagnostics(const SourceText &source, std::size_t limit = 20)
        : source_(source), limit_(limit) {}

    void error(SourceLocation where, std::string message, std::string note = {});
    void warning(SourceLocation where, std::string message, std::string note = {});

    bool has_errors() const { return error_count_ != 0; }
    std::size_t error_count() const { return error_count_; }
    /// True if the limit is reached: a parser can stop.
    bool full() const { return error_count_ >= limit_; }

    const SourceText &source() const { return source_; }
    const std::vector<Diagnostic> &list() const { return list_; }

    /// One diagnostic as `name:line:column: error: message`, without the source line.
    std::string headline(const Diagnostic &diagnostic) const;
    /// All diagnostics with source lines and carets, in the order of the text.
    std::string render() const;

  private:
    void add(Diagnostic diagnostic);

    const SourceText &source_;
    std::size_t limit_;
    std::size_t error_count_ = 0;
    std::vector<Diagnostic> list_;
};

} // namespace softcuda
