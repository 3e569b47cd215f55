// namespace_scope.h -- the statements of a source that are outside functions and classes.
//
// The reader knows brackets and a few keywords. It does not expand macros, so a source that opens
// a bracket in a macro is read wrongly: who changes a text by it must be able to take that back.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda::compile_detail {

/// A declaration or a definition, with its template head, in a namespace or in extern "C".
struct ScopeStatement {
    std::size_t begin = 0; ///< position of its first character; spaces may come first
    std::size_t end = 0;   ///< position after its ';', or after the body of a function
    bool is_function_body = false;
    bool has_class = false; ///< defines a struct, class, union or enum
};

/// The text with comments, the insides of strings and the lines of directives replaced by spaces.
[[nodiscard]] std::string blank_all_but_code(std::string_view text);

/// The statements of blank_all_but_code(), in order.
[[nodiscard]] std::vector<ScopeStatement> statements_at_namespace_scope(std::string_view blanked);

struct Word {
    std::size_t begin;
    std::string_view text;
};

/// The words of a declaration before its first initialiser or parameter, without those in angle
/// brackets, and the character that ends them.
struct Specifiers {
    std::vector<Word> words;
    std::size_t end = 0;
    char stop = ';';
    bool has_declarator_of_pointer = false;
};

[[nodiscard]] Specifiers read_specifiers(std::string_view text, std::size_t begin, std::size_t end);

//     #define HOST_DEVICE __host__ __device__
//     #define HOST __host__ inline

class SpecifierMacros {
  public:
    /// Adds the macros that a text defines, whose comments and strings are blanked.
    void add(std::string_view blanked);

    /// Whether the macro, or the word itself, is a specifier such as __device__.
    [[nodiscard]] bool is_for_device(std::string_view word) const;
    /// Whether the macro has nothing but specifiers such as __host__ and inline.
    [[nodiscard]] bool is_for_host(std::string_view word) const;

  private:
    void add_line(std::string_view line);

    std::set<std::string, std::less<>> device_, host_;
};

} // namespace pycuda::compile_detail
