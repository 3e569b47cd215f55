// image_kind.h -- the forms of device code.
#pragma once

#include <optional>
#include <string_view>

namespace pycuda {

/// The result of a compilation, which a driver loads. softcuda loads only Ptx.
enum class ImageKind { Ptx, Cubin, Fatbin, LtoIr };

/// The name and the file extension: "ptx", "cubin", "fatbin" or "ltoir".
constexpr const char *name_of(ImageKind kind) noexcept {
    switch (kind) {
    case ImageKind::Ptx:
        return "ptx";
    case ImageKind::Cubin:
        return "cubin";
    case ImageKind::Fatbin:
        return "fatbin";
    case ImageKind::LtoIr:
        return "ltoir";
    }
    return "";
}

/// The kind with this name; empty for another name.
constexpr std::optional<ImageKind> image_kind_named(std::string_view name) noexcept {
    for (ImageKind kind : {ImageKind::Ptx, ImageKind::Cubin, ImageKind::Fatbin, ImageKind::LtoIr})
        if (name == name_of(kind))
            return kind;
    return std::nullopt;
}

} // namespace pycuda
