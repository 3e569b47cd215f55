// texture.h -- texture and surface objects, and the references of old programs.
#pragma once

#include "device/array.h"
#include "rt/texture.h"

#include <cstdint>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace softcuda::device {

class Context;
class Module;

/// The description of a texture or surface object.
struct TextureObject {
    Context *context = nullptr;
    bool is_surface = false;
    CUDA_RESOURCE_DESC resource{};
    CUDA_TEXTURE_DESC texture{};
    std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};

/// Create an object and return its handle. Throw Error: invalid value, invalid handle, not
/// supported.
[[nodiscard]] std::uint64_t make_texture_object(Context &context,
                                                const CUDA_RESOURCE_DESC &resource,
                                                const CUDA_TEXTURE_DESC &texture,
                                                const CUDA_RESOURCE_VIEW_DESC *view);
[[nodiscard]] std::uint64_t make_surface_object(Context &context,
                                                const CUDA_RESOURCE_DESC &resource);

/// Throws Error(invalid value) for a handle that is not such an object.
[[nodiscard]] TextureObject texture_object(std::uint64_t handle, bool is_surface);
/// Waits for kernels that may use the object. Throws as above.
void destroy_texture_object(std::uint64_t handle, bool is_surface);
/// Destroys all objects of a context without waiting.
void destroy_texture_objects(const Context &context) noexcept;

/// A .texref or .surfref variable of a module, or a reference without a variable. Each change
/// creates a new object and stores its handle in the variable, for later launches.
class TextureReference {
  public:
    enum class Kind { Texture, Surface };

    /// `variable` is the address of the variable, or 0.
    TextureReference(Context &context, Kind kind, std::uint64_t variable);
    TextureReference(const TextureReference &) = delete;
    ~TextureReference();

    [[nodiscard]] Context &context() const noexcept { return context_; }
    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint64_t variable() const noexcept { return variable_; }

    /// Changes the description: change(resource, texture). Throws if the new object cannot be
    /// created; then the description is unchanged.
    template <class Change> void update(Change &&change) {
        std::lock_guard lock(mutex_);
        CUDA_RESOURCE_DESC resource = resource_;
        CUDA_TEXTURE_DESC texture = texture_;
        change(resource, texture);
        rebuild(resource, texture);
        resource_ = resource;
        texture_ = texture;
    }

    [[nodiscard]] CUDA_RESOURCE_DESC resource() const;
    [[nodiscard]] CUDA_TEXTURE_DESC texture() const;

    /// The format of linear memory, which is set before the memory.
    struct Format {
        CUarray_format format = CU_AD_FORMAT_FLOAT;
        unsigned channels = 1;
    };
    [[nodiscard]] Format format() const;
    void set_format(Format format);

  private:
    void rebuild(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture);
    void write_variable(std::uint64_t handle) const;

    Context &context_;
    Kind kind_;
    std::uint64_t variable_;
    mutable std::mutex mutex_;
    CUDA_RESOURCE_DESC resource_{};
    CUDA_TEXTURE_DESC texture_{};
    Format format_;
    bool bound_ = false;
    std::uint64_t handle_ = 0;
};

} // namespace softcuda::device
