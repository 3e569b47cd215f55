// texture.h -- texture and surface objects: how kernels read and write CUDA arrays.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

namespace pycuda {

namespace detail {
CUresult destroy_texture_object(CUtexObject object);
CUresult destroy_surface_object(CUsurfObject object);
} // namespace detail

/// How kernels read memory as a texture. A kernel takes its number, a cudaTextureObject_t. The
/// memory must outlive it.
class TextureObject {
  public:
    /// In the current context.
    TextureObject(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &texture);

    /// Throws after close(): 0 would be another object.
    CUtexObject get() const;
    const Context &context() const noexcept { return handle_.context(); }
    void close() noexcept { handle_.reset(); }
    bool closed() const noexcept { return handle_.get() == 0; }

  private:
    Handle<CUtexObject, detail::destroy_texture_object> handle_;
};

/// How kernels read and write a CUDA array. The array must outlive it and have been made with
/// CUDA_ARRAY3D_SURFACE_LDST.
class SurfaceObject {
  public:
    /// In the current context.
    explicit SurfaceObject(CUarray array);

    /// Throws after close(): 0 would be another object.
    CUsurfObject get() const;
    const Context &context() const noexcept { return handle_.context(); }
    void close() noexcept { handle_.reset(); }
    bool closed() const noexcept { return handle_.get() == 0; }

  private:
    Handle<CUsurfObject, detail::destroy_surface_object> handle_;
};

/// How a texture that a kernel's source declares as a variable, `texture<float, 2> t;`, is laid
/// out on the device: what pycuda-texture-references.hpp makes of the declaration. The compiler
/// fills in all but the first member; binding a texture writes that.
struct DeclaredTexture {
    CUtexObject object;
    CUarray_format format; ///< of the declared type
    int channels;
    int reads_normalized; ///< 1 for cudaReadModeNormalizedFloat
    int dimensions;       ///< as cuda's texture types have it
};

/// The same of `surface<void, 2> s;`.
struct DeclaredSurface {
    CUsurfObject object;
    int dimensions;
};

} // namespace pycuda
