// kernel_argument.h -- the arguments of kernels that users write as expressions.
#pragma once

#include <pycuda/launch.h>

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pycuda {

/// One argument, as its author declared it: "const float *x" or "int n".
struct KernelArgument {
    enum class Kind { Vector, Scalar };
    Kind kind = Kind::Vector; ///< a pointer to elements, or one value
    std::string type;         ///< in CUDA C++; the type of the elements for a vector
    std::string name;         ///< as declared
    std::size_t size = 0;     ///< of a value or an element, in bytes; 0 if unknown

    /// Whether the argument is an array.
    bool is_vector() const noexcept { return kind == Kind::Vector; }
};

/// Reads a list such as "float *x, const int *y, float a". Qualifiers of the elements are kept in
/// the type. Throws std::invalid_argument for another text.
[[nodiscard]] std::vector<KernelArgument> parse_kernel_arguments(std::string_view declarations);

/// The address and layout of an array. The spans must outlive the view.
struct ArrayView {
    CUdeviceptr address = 0;                  ///< of the element with index 0 on all axes
    std::size_t item_size = 0;                ///< in bytes
    std::span<const std::int64_t> shape = {}; ///< the extents
    /// In bytes, one for each extent. Empty means C-contiguous.
    std::span<const std::int64_t> strides = {};

    /// The number of elements.
    std::size_t size() const noexcept {
        std::size_t count = 1;
        for (std::int64_t extent : shape)
            count *= static_cast<std::size_t>(extent);
        return count;
    }
};

namespace detail {

template <class T> void add_array(std::vector<ArrayView> &arrays, const T &argument) {
    if constexpr (std::is_same_v<T, ArrayView>)
        arrays.push_back(argument);
}

/// Pushes a C++ argument into the block of `call`, a kernel's Call.
template <class Call, class Block, class T>
void push_declared(const Call &call, Block &block, std::size_t &array, const T &argument) {
    if constexpr (std::is_same_v<T, ArrayView>)
        call.push_array(block, array++);
    else
        push(block, argument);
}

} // namespace detail

} // namespace pycuda
