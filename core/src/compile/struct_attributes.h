// struct_attributes.h -- attributes after a struct, which NVRTC and nvcc interpret differently.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pycuda::compile_detail {

/// nvcc applies an attribute after the closing brace to the struct. NVRTC applies it to the typedef
/// or the variable that follows, which changes sizeof without a warning. Moves the attribute to the
/// begin of the struct, where both compilers agree; also a macro in place of the attribute. Line
/// numbers do not change. Empty if there is no such attribute.
///
///     typedef struct S { int a; } __align__(32) T;
///     typedef struct __align__(32) S { int a; }               T;
[[nodiscard]] std::optional<std::string> move_struct_attributes(std::string_view text);

} // namespace pycuda::compile_detail
