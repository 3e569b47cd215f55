// array.h -- a typed, strided view of memory on the device.
//
//     Array x = Array::empty(ArrayContext::current(), shape, ScalarType::Float32);
//     Array t = x.view(x.layout().transposed(axes));                 // the same memory
#pragma once

#include <pycuda/array_memory.h>
#include <pycuda/dtype.h>
#include <pycuda/layout.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

namespace pycuda {

/// An operation would write into an array that is read-only.
class ReadOnlyArray : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// A view: shared memory, the address of the first element, the elements' type and layout. A copy
/// is a view of the same memory. Use one object in one thread at a time.
class Array {
  public:
    /// A view of memory; `address` is that of the first element. Does not check that the layout
    /// fits.
    Array(std::shared_ptr<ArrayMemory> memory, CUdeviceptr address, DType dtype,
          const Layout &layout) noexcept
        : memory_(std::move(memory)), address_(address), dtype_(dtype), layout_(layout) {
        describe();
    }

    /// New memory from the context's pool with uninitialised elements; no memory for an array
    /// without elements. Order::Keep means C. `stream` is the stream that writes the memory first:
    /// its home stream.
    static Array empty(const std::shared_ptr<ArrayContext> &context,
                       std::span<const std::int64_t> shape, DType dtype, Order order,
                       StreamRef stream);
    /// As above, with a layout without negative strides. The memory holds all that the strides
    /// address.
    static Array with_layout(const std::shared_ptr<ArrayContext> &context, const Layout &layout,
                             DType dtype, StreamRef stream);

    /// Memory for intermediate results, in C order: from the pool, even if the thread has an
    /// allocator.
    static Array scratch(const std::shared_ptr<ArrayContext> &context,
                         std::span<const std::int64_t> shape, DType dtype, StreamRef stream);

    /// Another view of the same memory, whose first element is `offset` bytes after this one's. The
    /// caller must make sure that the view is inside the memory. Throws as ptr().
    Array view(const Layout &layout, std::int64_t offset = 0) const {
        return view(layout, dtype_, offset);
    }
    /// As above, with elements of another type.
    Array view(const Layout &layout, DType dtype, std::int64_t offset = 0) const {
        Array seen(memory_, address() + static_cast<CUdeviceptr>(offset), dtype, layout);
        seen.writable_ = writable_;
        return seen;
    }

    /// An attribute that a program has set by itself, so that the array may address bytes outside
    /// of its memory. The next use checks the array, because a program sets one attribute after the
    /// other. AxesOfStrides: as many strides were set as the array will have axes.
    enum class SetAttribute : std::uint8_t { None, Shape, Strides, AxesOfStrides, Dtype, Gpudata };

    /// The array with another layout and type, after the program has set `attribute`. Checks
    /// nothing.
    Array with_attribute(const Layout &layout, DType dtype, SetAttribute attribute) const;
    /// As above, with other memory: of unknown size if memory->size() is 0.
    Array with_memory(std::shared_ptr<ArrayMemory> memory, CUdeviceptr address) const;
    /// The attribute that was set last and is not yet checked, or None.
    SetAttribute set_attribute() const noexcept { return set_attribute_; }

    /// Whether operations may write the elements. Views of an array start with its answer. Only
    /// operations on arrays ask; a kernel of the user gets an address.
    bool is_writable() const noexcept { return writable_; }
    /// Applies to this object and to views made from it later.
    void set_writable(bool writable) noexcept { writable_ = writable; }
    /// Throws ReadOnlyArray with the array's role ("out") if it is read-only.
    void require_writable(std::string_view role) const {
        if (!writable_) [[unlikely]]
            throw_read_only(role);
    }

    /// The address of the first element, as GPUArray.ptr: nothing is recorded, so it is for
    /// comparisons, and for programs that keep the memory alive themselves. Work on arrays gets
    /// addresses from a Work. 0 if the array has no elements. Throws Error (invalid handle) if
    /// free() was called, and std::invalid_argument, which names the attribute, if attributes were
    /// set and do not fit the memory.
    CUdeviceptr ptr() const {
        if (memory_)
            memory_->expose();
        return address();
    }
    /// The address of the first element for comparisons: nothing is read or written there. Throws
    /// as ptr().
    CUdeviceptr address() const {
        if (set_attribute_ != SetAttribute::None) [[unlikely]]
            check_attributes();
        if (memory_ && memory_->freed()) [[unlikely]]
            memory_->throw_freed();
        return address_;
    }
    /// Bytes from the begin of the memory to the first element. Needs memory.
    CUdeviceptr offset_in_memory() const { return address_ - memory_->address(); }
    /// The address of the first element modulo 256.
    std::size_t misalignment() const noexcept { return address_ % 256; }
    /// Whether the first elements of both are at the same place.
    bool starts_where(const Array &other) const noexcept { return address_ == other.address_; }
    /// The type of the elements.
    DType dtype() const noexcept { return dtype_; }
    /// As dtype(); Opaque for structs.
    ScalarType scalar_type() const noexcept { return dtype_.scalar(); }
    /// The shape, and the strides in bytes.
    const Layout &layout() const noexcept { return layout_; }
    /// The number of elements along each axis. Valid as long as the array.
    std::span<const std::int64_t> shape() const noexcept { return layout_.shape(); }
    /// The number of axes.
    int dimensions() const noexcept { return layout_.dimensions(); }
    /// The number of elements.
    std::size_t size() const noexcept { return size_; }
    /// The size of an element in bytes.
    std::size_t item_size() const noexcept { return dtype_.item_size(); }
    /// The size of all elements in bytes, without gaps between them.
    std::size_t bytes() const noexcept { return size_ * dtype_.item_size(); }
    /// Whether the elements are contiguous, the last axis fastest.
    bool is_c_contiguous() const noexcept { return c_contiguous_; }
    /// Whether the elements are contiguous, the first axis fastest.
    bool is_f_contiguous() const noexcept { return f_contiguous_; }
    /// Whether the elements are contiguous, in C or Fortran order.
    bool is_contiguous() const noexcept { return c_contiguous_ || f_contiguous_; }

    /// Null if the array has no elements and never had memory.
    const std::shared_ptr<ArrayMemory> &memory() const noexcept { return memory_; }
    /// Throws std::invalid_argument if the array never had memory.
    const std::shared_ptr<ArrayContext> &context() const {
        if (memory_ == nullptr) [[unlikely]]
            throw_without_memory();
        return memory_->context();
    }

    /// Whether kernels can access each element as one number; false of a field in packed structs.
    bool is_aligned() const noexcept;

    /// Whether the bytes of both may overlap.
    bool may_share_bytes(const Array &other) const noexcept;
    /// Whether the bytes may overlap those of the memory that `other` is a view of: for elements at
    /// computed places of `other`.
    bool may_share_memory(const Array &other) const noexcept;

  private:
    void describe() noexcept;
    /// The addresses of the first byte, and of the byte after the last; 0 and 0 without elements.
    Layout::ByteRange addresses() const noexcept;
    void check_attributes() const;
    [[noreturn]] void throw_without_memory() const;
    [[noreturn]] void throw_read_only(std::string_view role) const;

    std::shared_ptr<ArrayMemory> memory_;
    CUdeviceptr address_;
    std::size_t size_ = 0;
    DType dtype_;
    bool c_contiguous_ = false;
    bool f_contiguous_ = false;
    bool writable_ = true;
    /// Several threads may use one array, and each may find that the attributes fit.
    mutable SetAttribute set_attribute_ = SetAttribute::None;
    Layout layout_;
};

} // namespace pycuda
