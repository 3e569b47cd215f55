// tensor_map.h -- the content of a CUtensorMap: the layout of a tensor, and the box that is copied.
//
// CUDA does not specify the 128 bytes. softcuda's maps begin with a magic number, so that an
// instruction can detect other bytes.
#pragma once

#include "support/bulk_copy.h"

#include <array>
#include <cstdint>
#include <span>

namespace softcuda {

/// In the order of CUtensorMapDataType.
enum class TensorType : std::uint8_t {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32Flushed,
    TF32,
    TF32Flushed,
    Count,
};
[[nodiscard]] unsigned bytes_of(TensorType type);
/// The type of the operation on elements; false if a GPU does not support the operation for this
/// type.
[[nodiscard]] bool element_type(TensorType type, ElementOperation operation, ElementType &out);

/// The permutation of chunks of 16 bytes in shared memory. In the order of CUtensorMapSwizzle.
enum class TensorSwizzle : std::uint8_t { None, Bytes32, Bytes64, Bytes128, Count };
/// The size in bytes of a group of permuted chunks; 0 for None.
[[nodiscard]] unsigned span_of(TensorSwizzle swizzle);
/// The swizzled offset in a block's shared memory. Some bits of the chunk's number are combined
/// with those of the line of 128 bytes; the function is its own inverse.
[[nodiscard]] constexpr std::uint64_t swizzled(TensorSwizzle swizzle, std::uint64_t offset) {
    const std::uint64_t chunks = (std::uint64_t{1} << static_cast<unsigned>(swizzle)) - 1;
    return offset ^ (offset >> 3 & chunks << 4);
}

enum class BoxAccess : std::uint8_t { Load, Store };

struct TensorMap {
    static constexpr unsigned kMostDimensions = 5;
    static constexpr unsigned kMostBox = 256, kMostStep = 8;
    static constexpr std::array<char, 8> kMark = {'s', 'c', 'u', 'T', 'M', 'a', 'p', '1'};

    std::array<char, 8> mark = kMark;
    std::uint64_t address = 0;
    std::array<std::uint64_t, kMostDimensions - 1> strides{}; ///< bytes, of all but the first
    std::array<std::uint32_t, kMostDimensions> extents{};     ///< elements
    std::array<std::uint16_t, kMostDimensions> box{}; ///< elements, of which each `steps`-th counts
    std::array<std::uint8_t, kMostDimensions> steps{};
    std::uint8_t rank = 0;
    TensorType type{};
    TensorSwizzle swizzle{};
    std::uint8_t fills_with_nan = 0; ///< outside the tensor
    std::array<std::uint8_t, 41> unused{};

    /// The reason why the map is unusable; null if it is usable.
    [[nodiscard]] const char *find_fault() const;
    /// The error of a box's coordinates; null if there is none.
    [[nodiscard]] const char *find_fault_of_place(std::span<const std::int32_t> begin,
                                                  BoxAccess access) const;
    /// The number of elements of a box in one dimension in shared memory.
    [[nodiscard]] unsigned count(unsigned dimension) const;
    /// The size of a box in bytes, as counted by an mbarrier.
    [[nodiscard]] std::uint32_t box_bytes() const;
    /// Bytes of shared memory from one row of a box to the next: with a swizzle, its whole span.
    [[nodiscard]] std::uint32_t row_pitch() const;
};
static_assert(sizeof(TensorMap) == 128);

/// A member of a tensor map that a kernel may change.
struct TensorMapField {
    enum class Kind : std::uint8_t {
        Address,
        Rank,
        Box,
        Extent,
        Stride,
        Step,
        Type,
        Swizzle,
        Fill
    };
    Kind kind{};
    std::uint8_t dimension = 0; ///< of Box, Extent and Step; of Stride one less

    /// As the variant of a RuntimeOperation.
    [[nodiscard]] constexpr std::uint32_t pack() const {
        return static_cast<std::uint32_t>(kind) | std::uint32_t{dimension} << 4;
    }
    [[nodiscard]] static constexpr TensorMapField unpack(std::uint32_t variant) {
        return {static_cast<Kind>(variant & 15), static_cast<std::uint8_t>(variant >> 4 & 7)};
    }
};

/// A number of a map, converted to the type of its member. A number that is too large becomes 0,
/// which is invalid in a map.
template <class Number, class Wide> [[nodiscard]] constexpr Number fitting(Wide value) {
    const auto cut = static_cast<Number>(value);
    return cut == value ? cut : Number{0};
}

} // namespace softcuda
