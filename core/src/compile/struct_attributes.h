// struct_attributes.h -- alignment written behind a struct, which NVRTC reads otherwise than nvcc.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// nvcc gives an attribute behind the closing brace to the struct. NVRTC gives it to the typedef or
/// the variable that follows, so that sizeof is another, without a word. Moves the attribute to the
/// front, where both agree; also a macro in its place. No line moves. Nothing where there is none.
///
///     typedef struct S { int a; } __align__(32) T;
///     typedef struct __align__(32) S { int a; }               T;
[[nodiscard]] std::optional<std::string> move_struct_attributes(std::string_view text);

} // namespace pycuda::compile_detail
