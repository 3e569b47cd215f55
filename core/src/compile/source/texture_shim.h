// texture_shim.h -- lets sources with `texture<>` and `surface<>` variables compile since CUDA 12.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

/// CUDA 12 removed texture and surface references. In a source that declares them, they become
/// constants of a class of pycuda-texture-references.hpp. The class contains a texture or surface
/// object that the host sets (see pycuda/texture.h). The header is included before all other text.
/// Line numbers do not change.
///
///     texture<float, 2> image;      becomes      __constant__ texture<float, 2> image;
void adapt_texture_references(CompileRequest &request);

/// As above for the text of a header. Empty if the text declares no texture or surface.
[[nodiscard]] std::optional<std::string> adapt_texture_declarations(std::string_view text);

/// The header that defines the class; include it before all other text.
inline constexpr const char *texture_reference_header = "pycuda-texture-references.hpp";

} // namespace pycuda::compile_detail
