// texture.h -- textures and surfaces of running kernels, and the table of their handles.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace softcuda::rt {

/// The type of one channel of a texel.
enum class TexelType : std::uint8_t { U8, S8, U16, S16, U32, S32, F16, F32 };

[[nodiscard]] constexpr unsigned bytes_of(TexelType type) noexcept {
    constexpr unsigned bytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    return bytes[static_cast<unsigned>(type)];
}

/// The texels of one mipmap level, or of an array without levels. `depth` is slices, layers, or
/// faces.
struct Image {
    std::uint64_t address = 0;
    std::uint64_t pitch = 0; ///< bytes from row to row
    std::uint64_t slice = 0; ///< bytes from slice to slice
    std::array<std::uint32_t, 3> extent{1, 1, 1};
};

/// What generated code reads of a surface: all zero, so that every place is outside, if the runtime
/// has to access the object.
struct SurfaceView {
    std::uint64_t address = 0;
    std::uint64_t pitch = 0, slice = 0; ///< bytes from row to row, and from slice to slice
    std::uint32_t row = 0;              ///< the bytes of a row
    std::uint32_t rows = 0, slices = 0;
};

enum class AddressMode : std::uint8_t { Wrap, Clamp, Mirror, Border };

/// The addresses of the texels that one lane's instruction reads, for check modes.
struct TexelReads {
    static constexpr unsigned kMost = 16; ///< of two levels with three dimensions
    std::array<std::uint64_t, kMost> addresses;
    unsigned count = 0;

    void add(const std::byte *place) noexcept {
        if (count < kMost)
            addresses[count++] = reinterpret_cast<std::uint64_t>(place);
    }
};

/// A texture or surface object. Immutable once it has a handle.
struct Texture {
    static constexpr unsigned kMostLevels = 16;

    std::array<Image, kMostLevels> levels{};
    unsigned level_count = 1;
    TexelType type = TexelType::F32;
    unsigned channels = 1;
    bool is_surface = false;
    bool is_layered = false;
    bool is_linear_memory = false; ///< read by index, without modes
    unsigned dimensions = 2;       ///< of the array, without layers

    // How a texture is read.
    std::array<AddressMode, 3> address{};
    bool linear_filter = false;
    bool linear_between_levels = false;
    bool normalized = false;
    bool as_integer = false; ///< reads return the integers of the texels, not floats
    bool srgb = false;
    bool seamless_cube = false;
    float level_bias = 0, least_level = 0, most_level = 0;
    std::array<float, 4> border{};

    SurfaceView view{};          ///< set by add_texture()
    TexelReads *reads = nullptr; ///< of a copy: to which reads of texels are added

    [[nodiscard]] unsigned texel_bytes() const noexcept { return bytes_of(type) * channels; }
};

/// Returns a new handle for a texture; 0 if there are too many. Any thread may call.
[[nodiscard]] std::uint64_t add_texture(std::unique_ptr<Texture> texture);

/// Frees a handle; no kernel may use it any more. False for an unknown handle.
bool remove_texture(std::uint64_t handle);

/// The texture of a handle, or null.
[[nodiscard]] const Texture *find_texture(std::uint64_t handle) noexcept;

} // namespace softcuda::rt
