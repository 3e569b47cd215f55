// texture_shim.h -- lets sources with `texture<>` and `surface<>` variables compile since CUDA 12.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pycuda/compiler.h"

namespace pycuda::compile_detail {

/// CUDA 12 took texture and surface references out of the language. Where the source declares
/// some, they become constants of a class that pycuda-texture-references.hpp defines, with a
/// texture or surface object in it that the host sets (see pycuda/texture.h); that header is then
/// included before everything else. No line moves.
///
///     texture<float, 2> image;      becomes      __constant__ texture<float, 2> image;
void adapt_texture_references(CompileRequest &request);

/// The same for the text of a header. Nothing where the text declares no texture or surface.
[[nodiscard]] std::optional<std::string> adapt_texture_declarations(std::string_view text);

/// The header that defines the class, to be included before everything else.
inline constexpr const char *texture_reference_header = "pycuda-texture-references.hpp";

} // namespace pycuda::compile_detail
