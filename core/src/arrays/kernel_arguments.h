// kernel_arguments.h -- the argument block of a generated kernel, laid out as C lays out a struct.
#pragma once

#include <pycuda/launch.h>
#include <pycuda/layout.h>
#include <pycuda/noted_operation.h>
#include <pycuda/work.h>

#include <cuda.h>

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace pycuda {

template <class Integer> constexpr Integer divide_up(Integer a, std::type_identity_t<Integer> b) {
    return (a + b - 1) / b;
}

/// The number of blocks of a grid. Throws std::invalid_argument, which says `what` needs them, if a
/// grid cannot have this number.
inline unsigned grid_extent(std::int64_t blocks, const char *what) {
    if (blocks > 0x7fffffff)
        throw std::invalid_argument(std::string(what) + " needs " + std::to_string(blocks) +
                                    " blocks; a grid has at most 2147483647");
    return static_cast<unsigned>(blocks);
}

/// An address in memory of the library that stays valid until the launch is complete, or null.
struct LibraryAddress {
    CUdeviceptr address = 0;
};

/// An array that a kernel certainly does not change.
struct OnlyRead {
    const Array *array;
};

/// Stored on the stack; add the arguments in the order of the kernel's parameters. Arrays are added
/// as Array objects, so that the launch records its use of their memory.
class KernelArguments {
  public:
    /// For launches in the stream of `use`. Adds the first arguments.
    template <class... Arguments>
    explicit KernelArguments(Work &use, const Arguments &...arguments) : use_(use) {
        (add(arguments), ...);
    }

    void add(const void *value, std::size_t size, std::size_t alignment) noexcept {
        std::memcpy(reserve(size, alignment), value, size);
    }
    /// A number, or a struct of numbers. Pass an array instead of its address.
    template <class T>
        requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> &&
                 !std::same_as<T, CUdeviceptr> && !std::same_as<T, OnlyRead>)
    void add(const T &value) noexcept {
        add(&value, sizeof value, alignof(T));
    }
    /// The address `offset` bytes after the array's first element.
    void add(const Array &array, std::int64_t offset = 0) {
        add_address(use_.read(array) + static_cast<CUdeviceptr>(offset));
    }
    void add(OnlyRead read, std::int64_t offset = 0) {
        add_address(use_.read_only(*read.array) + static_cast<CUdeviceptr>(offset));
    }
    /// The array's address, or a null pointer if there is no array.
    void add(const Array *array) { add_address(array == nullptr ? 0 : use_.read(*array)); }
    void add(const std::optional<Array> &array) { add(array ? &*array : nullptr); }
    /// The extents of layouts of one shape, then for each axis the strides of all layouts.
    void add_axes(std::span<const Layout> layouts) noexcept {
        for (std::int64_t extent : layouts[0].shape())
            add(extent);
        for (int axis = 0; axis < layouts[0].dimensions(); ++axis)
            for (const Layout &layout : layouts)
                add(layout.stride(axis));
    }

    /// Indices of 64 bits (`wide`) or 32: `numbers`, the extents of kept and of reduced axes, then
    /// for each axis the strides of all layouts. Without kept axes, they have one of length 1.
    void add_split_axes(bool wide, std::initializer_list<std::size_t> numbers,
                        std::span<const Layout> kept, std::span<const Layout> reduced) noexcept {
        const auto put = [&](auto value) {
            wide ? add(static_cast<std::int64_t>(value)) : add(static_cast<std::int32_t>(value));
        };
        for (std::size_t number : numbers)
            put(number);
        for (const std::span<const Layout> layouts : {kept, reduced}) {
            for (std::int64_t extent : layouts[0].shape())
                put(extent);
            if (layouts[0].dimensions() == 0)
                put(1);
        }
        for (const std::span<const Layout> layouts : {kept, reduced})
            for (int axis = 0; axis < std::max(layouts[0].dimensions(), 1); ++axis)
                for (const Layout &layout : layouts)
                    put(axis < layout.dimensions() ? layout.stride(axis) : 0);
    }

    /// Reserves `size` bytes, which the caller fills in place.
    std::byte *reserve(std::size_t size, std::size_t alignment) noexcept {
        size_ = (size_ + alignment - 1) & ~(alignment - 1);
        assert(size_ + size <= sizeof bytes_);
        std::byte *place = bytes_ + size_;
        size_ += size;
        return place;
    }

    /// Launches in the stream of the use; the stream in `config` is ignored.
    void launch(const Function &function, LaunchConfig config) {
        config.stream = use_.stream();
        if (operations_are_noted()) [[unlikely]]
            note_operation_launch(function, config);
        launch_packed(function, config, bytes_, size_);
    }

    /// Launches as many threads as there are elements, rounded up to whole blocks.
    void launch_for(const Function &function, std::size_t elements, unsigned block) {
        launch(function,
               {.grid = {static_cast<unsigned>((elements + block - 1) / block)}, .block = {block}});
    }

  private:
    void add_address(CUdeviceptr address) noexcept {
        add(&address, sizeof address, alignof(CUdeviceptr));
    }

    Work &use_;
    std::size_t size_ = 0;
    alignas(16) std::byte bytes_[4096];
};

} // namespace pycuda
