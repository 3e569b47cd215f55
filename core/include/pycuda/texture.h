// texture.h -- texture and surface objects: how kernels read and write CUDA arrays.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

#include <functional>
#include <utility>

namespace pycuda {

/// Throws if the memory that a texture or a surface shows was freed: a kernel would read freed
/// memory, which costs the context.
using RequireMemory = std::function<void()>;

namespace detail {
CUresult destroy_texture_object(CUtexObject object);
CUresult destroy_surface_object(CUsurfObject object);
[[noreturn]] void throw_closed_object(const char *what);

/// What textures and surfaces share: the number of the driver's object, whose memory must outlive
/// it.
template <CUresult (*destroy)(unsigned long long)> class ShownMemory {
  public:
    /// Throws after close(), and after the end of the memory.
    unsigned long long get() const {
        if (closed())
            throw_closed_object(what_);
        if (require_memory_)
            require_memory_();
        return handle_.live(what_);
    }
    const Context &context() const noexcept { return handle_.context(); }
    void close() noexcept { handle_.reset(); }
    bool closed() const noexcept { return handle_.get() == 0; }

  protected:
    using Owner = Handle<unsigned long long, destroy>;
    ShownMemory(Owner handle, const char *what, RequireMemory require_memory)
        : handle_(std::move(handle)), what_(what), require_memory_(std::move(require_memory)) {}

  private:
    Owner handle_;
    const char *what_; ///< for messages: "texture"
    RequireMemory require_memory_;
};
} // namespace detail

/// A texture: describes how kernels read memory. A kernel gets the number of the object, a
/// cudaTextureObject_t. The memory must outlive it.
class TextureObject : public detail::ShownMemory<detail::destroy_texture_object> {
  public:
    /// In the current context.
    TextureObject(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture,
                  RequireMemory require_memory = {});
};

/// A surface: kernels read and write a CUDA array through it. The array must outlive it, and must
/// be made with CUDA_ARRAY3D_SURFACE_LDST.
class SurfaceObject : public detail::ShownMemory<detail::destroy_surface_object> {
  public:
    /// In the current context.
    explicit SurfaceObject(CUarray array, RequireMemory require_memory = {});
};

/// How a texture that a kernel's source declares as a variable, `texture<float, 2> t;`, is stored
/// on the device: pycuda-texture-references.hpp replaces the declaration by this struct. The
/// compiler initialises all members except the first one, which is written when a texture is bound.
struct DeclaredTexture {
    CUtexObject object;    ///< 0 before a texture is bound
    CUarray_format format; ///< the format of the declared type
    int channels;          ///< of the declared type: 1, 2 or 4
    int reads_normalized;  ///< 1 for cudaReadModeNormalizedFloat
    int dimensions;        ///< the number in CUDA's texture types
};

/// As above for `surface<void, 2> s;`.
struct DeclaredSurface {
    CUsurfObject object; ///< 0 before a surface is bound
    int dimensions;      ///< the number in CUDA's surface types
};

} // namespace pycuda
