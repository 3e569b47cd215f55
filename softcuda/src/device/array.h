// array.h -- CUDA arrays: texels that textures and surfaces read, accessible only by copies.
#pragma once

#include "rt/texture.h"

#include <cstdint>
#include <cuda.h>
#include <memory>
#include <vector>

namespace softcuda::device {

class Context;

/// The type of a channel. Throws Error: invalid value, not supported for a video format.
[[nodiscard]] rt::TexelType texel_type(CUarray_format format);

/// An array of one to three dimensions, of layers, or of the faces of a cube. Its texels are
/// contiguous in separate device memory: a layer or a face is a slice.
class Array {
  public:
    enum class Role { Alone, Level };

    /// Throws Error: invalid value for an invalid description, out of memory.
    Array(Context &context, const CUDA_ARRAY3D_DESCRIPTOR &description, Role role = Role::Alone);
    Array(const Array &) = delete;
    ~Array();

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] const CUDA_ARRAY3D_DESCRIPTOR &description() const noexcept {
        return description_;
    }
    [[nodiscard]] const rt::Image &image() const noexcept { return image_; }
    [[nodiscard]] rt::TexelType type() const noexcept { return type_; }
    [[nodiscard]] unsigned texel_bytes() const noexcept {
        return bytes_of(type_) * description_.NumChannels;
    }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return image_.slice * image_.extent[2]; }
    [[nodiscard]] bool is_layered() const noexcept {
        return (description_.Flags & CUDA_ARRAY3D_LAYERED) != 0;
    }
    [[nodiscard]] bool is_cube() const noexcept {
        return (description_.Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    }
    /// 1 to 3; layers and faces do not count.
    [[nodiscard]] unsigned dimensions() const noexcept;

  private:
    Context &context_;
    CUDA_ARRAY3D_DESCRIPTOR description_;
    Role role_;
    rt::TexelType type_;
    rt::Image image_;
};

/// An array and smaller arrays, each half as large as the previous one.
class MipmappedArray {
  public:
    MipmappedArray(Context &context, const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels);

    [[nodiscard]] Context &context() const noexcept { return levels_[0]->context(); }
    [[nodiscard]] const std::vector<std::shared_ptr<Array>> &levels() const noexcept {
        return levels_;
    }

  private:
    std::vector<std::shared_ptr<Array>> levels_;
};

} // namespace softcuda::device
