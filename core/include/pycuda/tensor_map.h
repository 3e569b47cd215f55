// tensor_map.h -- how bulk copies of a kernel see an array: a CUtensorMap.
#pragma once

#include <pycuda/array.h>

#include <cuda.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pycuda {

/// A box of a tensor, which one instruction copies. Its axes are those of the array: the last one
/// is the innermost.
struct TensorBox {
    std::vector<std::int64_t> shape; ///< in elements, one extent for each axis of the tensor
    std::vector<std::int64_t> steps; ///< one element of each step; empty: all
    std::optional<CUtensorMapDataType> type; ///< by default that of the array
    unsigned swizzle = 0;                    ///< bytes: 0, 32, 64 or 128
    unsigned promotion = 0;                  ///< bytes of the L2 cache: 0, 64, 128 or 256
    bool fills_with_nan = false;             ///< outside the tensor; else with zeros
};

/// The description of an array for `cp.async.bulk.tensor`. Keeps the array's memory.
class TensorMap {
  public:
    /// Throws std::invalid_argument, which names the value and the axis that a GPU refuses, and
    /// Error if the device has no such instructions.
    static TensorMap tiled(const Array &tensor, const TensorBox &box);

    /// The array, which the map keeps alive.
    const Array &tensor() const noexcept { return tensor_; }
    /// The value of a kernel's parameter `const __grid_constant__ CUtensorMap`.
    std::span<const std::byte> bytes() const noexcept { return bytes_; }

  private:
    explicit TensorMap(const Array &tensor) : tensor_(tensor) {}

    Array tensor_;
    std::array<std::byte, sizeof(CUtensorMap)> bytes_{};
};

/// The type with the name "float32_ftz", "tfloat32" or "tfloat32_ftz", which only tensor maps know.
/// Empty for other names.
std::optional<CUtensorMapDataType> tensor_map_type(std::string_view name);

} // namespace pycuda
