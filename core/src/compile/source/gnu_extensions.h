// gnu_extensions.h -- GCC's extensions of C++, which nvcc takes and NVRTC refuses.
//
// nvcc reads device code as GCC would. Each of these extensions has a form in standard C++:
//
//     #import <math.h>                    #include <math.h>, once
//     (float2){1, 2}                      pycuda_type<float2>{1, 2}
//     ({ int a = f(); a + 1; })           [&]{ int a = f(); return a + 1; }()
//     a ?: b                              a ? a : b
//     case 1 ... 3:                       case 1: case 2: case 3:
//
// A form with another meaning is not written: a statement expression that leaves its function, or
// `f() ?: b`, which would call f twice. Only nvcc compiles such a source.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// Rewrites `#import`; empty if the text has none. Line numbers do not change.
[[nodiscard]] std::optional<std::string> replace_imports(std::string_view text);

/// Rewrites the escape sequence `\e`, which NVRTC reads as an 'e'; empty if the text has none.
[[nodiscard]] std::optional<std::string> replace_escapes(std::string_view text);

/// Rewrites the other extensions; empty if none can be rewritten. Line numbers do not change.
/// Include the header below before the result.
[[nodiscard]] std::optional<std::string> replace_gnu_extensions(std::string_view text);

inline constexpr const char *gnu_extension_header = "pycuda-gnu-extensions.h";
[[nodiscard]] const char *text_of_gnu_extension_header();

/// Whether NVRTC's log can be the consequence of an extension.
[[nodiscard]] bool may_be_gnu_extension(std::string_view log);

/// Whether the text has designated initialisers, `{.x = 1}`, which C++ has since C++20.
[[nodiscard]] bool has_designators(std::string_view text);

/// nvcc applies an attribute after the closing brace to the struct. NVRTC applies it to the typedef
/// or the variable that follows, which changes sizeof without a warning. Moves the attribute to the
/// begin of the struct, where both compilers agree; also a macro in place of the attribute. Line
/// numbers do not change. Empty if there is no such attribute.
///
///     typedef struct S { int a; } __align__(32) T;
///     typedef struct __align__(32) S { int a; }               T;
[[nodiscard]] std::optional<std::string> move_struct_attributes(std::string_view text);

/// The three changes that every text needs: those of imports, escapes and struct attributes.
void write_for_nvrtc(std::string &text);

} // namespace pycuda::compile_detail
