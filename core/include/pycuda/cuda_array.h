// cuda_array.h -- CUDA arrays: memory laid out for textures and surfaces, without an address.
#pragma once

#include <pycuda/context.h>
#include <pycuda/handle.h>

#include <cuda.h>

#include <memory>

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
    /// As above, also for layered arrays, cube maps and surfaces, which the flags select.
    explicit CudaArray(const CUDA_ARRAY3D_DESCRIPTOR &description);
    /// Borrows an array that other code keeps alive, such as an array of a graphics library.
    static CudaArray borrow(CUarray handle, Context context);

    /// Throws Error (invalid handle) after free(), and for a level after the free() of its array.
    CUarray get() const;
    /// The context of the array.
    const Context &context() const noexcept { return context_; }
    /// The extents, the format and the channels. Throws Error.
    CUDA_ARRAY_DESCRIPTOR description() const;
    /// As above with the depth and the flags. Throws Error.
    CUDA_ARRAY3D_DESCRIPTOR description_3d() const;

    /// True after free().
    bool freed() const noexcept;
    /// Frees the array now, or when the last result of keep() goes. Throws if it was freed before.
    void free();

    /// Keeps the memory, even after free(), while the result lives: for a variable of a module that
    /// names the array, which any kernel of the module may read. Throws as get().
    [[nodiscard]] std::shared_ptr<const void> keep() const;

  private:
    friend class MipmappedArray;
    class Memory;
    CudaArray(std::shared_ptr<Memory> memory, Context context);
    std::shared_ptr<Memory> memory_;
    Context context_;
};

/// An array at several resolutions. Level 0 is the largest; the extents of each level are half of
/// those of the level before.
class MipmappedArray {
  public:
    /// In the current context.
    MipmappedArray(const CUDA_ARRAY3D_DESCRIPTOR &description, unsigned levels);

    /// Throws Error (invalid handle) after free().
    CUmipmappedArray get() const;
    /// The context of the array.
    const Context &context() const noexcept { return context_; }
    /// The number of levels.
    unsigned levels() const noexcept { return levels_; }
    /// One level, which keeps the memory of all levels until free().
    CudaArray level(unsigned level) const;

    /// True after free().
    bool freed() const noexcept;
    /// Frees the array with its levels now. Throws Error if it was freed before.
    void free();

  private:
    friend class CudaArray;
    class Memory;
    std::shared_ptr<Memory> memory_;
    Context context_;
    unsigned levels_;
};

} // namespace pycuda
