// cuda_array.h -- CUDA arrays: memory laid out for textures and surfaces, without an address.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

namespace pycuda {

namespace detail {
CUresult destroy_cuda_array(CUarray array);
CUresult destroy_mipmapped_array(CUmipmappedArray array);
} // namespace detail

/// Bytes of one channel of this format; 0 for an unknown format.
std::size_t bytes_of_format(CUarray_format format) noexcept;

/// A one- to three-dimensional array of 1, 2 or 4 channels. Owns it.
class CudaArray {
  public:
    /// In the current context. A height or depth of 0 makes an array of fewer dimensions.
    explicit CudaArray(const CUDA_ARRAY_DESCRIPTOR &description);
    explicit CudaArray(const CUDA_ARRAY3D_DESCRIPTOR &description);
    /// Borrows an array that other code keeps alive, such as a level of a mipmapped array or an
    /// array of a graphics library.
    static CudaArray borrow(CUarray handle, Context context);

    CUarray get() const noexcept { return handle_.get(); }
    const Context &context() const noexcept { return handle_.context(); }
    CUDA_ARRAY_DESCRIPTOR description() const;
    CUDA_ARRAY3D_DESCRIPTOR description_3d() const;

    bool freed() const noexcept { return handle_.get() == nullptr; }
    /// Frees the array now. Throws if it was freed before.
    void free();

  private:
    using Owner = Handle<CUarray, detail::destroy_cuda_array>;
    explicit CudaArray(Owner handle) : handle_(std::move(handle)) {}
    Owner handle_;
};

/// An array at several resolutions. Level 0 is the largest; the extents of each level are half of
/// those of the level before.
class MipmappedArray {
  public:
    /// In the current context.
    MipmappedArray(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels);

    /// Throws Error (invalid handle) after free().
    CUmipmappedArray get() const;
    const Context &context() const noexcept { return handle_.context(); }
    unsigned levels() const noexcept { return levels_; }
    /// One level; valid as long as this lives.
    CudaArray level(unsigned level) const;

    bool freed() const noexcept { return handle_.get() == nullptr; }
    /// Frees the array with its levels now. Throws Error if it was freed before.
    void free();

  private:
    using Owner = Handle<CUmipmappedArray, detail::destroy_mipmapped_array>;
    Owner handle_;
    unsigned levels_;
};

} // namespace pycuda
