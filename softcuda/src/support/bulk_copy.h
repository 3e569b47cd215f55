// bulk_copy.h -- the variants of copies and reductions that the runtime carries out.
#pragma once

#include <cstdint>

namespace softcuda {

enum class ElementOperation : std::uint8_t { Copy, Add, Min, Max, Inc, Dec, And, Or, Xor };
/// F32Flushed: denormal operands and sums are zero.
enum class ElementType : std::uint8_t { U32, S32, U64, S64, F16, BF16, F32, F64, F32Flushed };

/// The operation for each element: the new element replaces the old one, or is combined with it.
struct ElementForm {
    ElementOperation operation = ElementOperation::Copy;
    ElementType type = ElementType::U32;
};

[[nodiscard]] constexpr unsigned bytes_of(ElementType type) {
    switch (type) {
    case ElementType::F16:
    case ElementType::BF16:
        return 2;
    case ElementType::U32:
    case ElementType::S32:
    case ElementType::F32:
    case ElementType::F32Flushed:
        return 4;
    default:
        return 8;
    }
}

/// The immediate operand of ir::Opcode::CopyGroup, for groups of bulk copies: the number of groups
/// that may still be pending, plus these bits.
inline constexpr std::uint32_t kBulkGroups = 1u << 30;
inline constexpr std::uint32_t kCommitBulkGroup = 1u << 29; ///< ends a group
inline constexpr std::uint32_t kReadBulkGroups = 1u << 28;  ///< waits for the reads of sources only
inline constexpr std::uint32_t kMostBulkGroups = (1u << 28) - 1;
/// The same of griddepcontrol, which has no effect but for the check modes: grids run one after
/// another.
inline constexpr std::uint32_t kWaitForEarlierGrid = 1u << 31;
inline constexpr std::uint32_t kLaunchDependents = kWaitForEarlierGrid + 1;

/// A bulk copy, or an asynchronous store to another block.
struct BulkForm {
    ElementForm element;
    bool arrives = false;   ///< an mbarrier counts the bytes
    bool multicast = false; ///< to each block of a mask
    bool masked = false;    ///< a mask selects the bytes of each 16 that are copied
    std::uint8_t count = 1; ///< elements of an asynchronous store, dimensions of a tensor

    /// The encoding as the variant of a RuntimeOperation.
    [[nodiscard]] constexpr std::uint32_t pack() const {
        return static_cast<std::uint32_t>(element.operation) |
               static_cast<std::uint32_t>(element.type) << 4 | std::uint32_t{arrives} << 8 |
               std::uint32_t{multicast} << 9 | std::uint32_t{masked} << 10 |
               std::uint32_t{count} << 11;
    }
    [[nodiscard]] static constexpr BulkForm unpack(std::uint32_t variant) {
        return {.element = {static_cast<ElementOperation>(variant & 15),
                            static_cast<ElementType>(variant >> 4 & 15)},
                .arrives = (variant >> 8 & 1) != 0,
                .multicast = (variant >> 9 & 1) != 0,
                .masked = (variant >> 10 & 1) != 0,
                .count = static_cast<std::uint8_t>(variant >> 11 & 15)};
    }
};

} // namespace softcuda
