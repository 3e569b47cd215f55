// tensor_map.cpp -- validates tensor maps, and computes the sizes of their boxes.
#include "support/tensor_map.h"

#include <algorithm>

namespace softcuda {

unsigned bytes_of(TensorType type) {
    constexpr unsigned kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return kBytes[static_cast<unsigned>(type)];
}

namespace {

/// What an H100 does with elements of a type; anything else is an illegal instruction there.
struct Combination {
    TensorType type;
    ElementType element;
    std::initializer_list<ElementOperation> operations;
};

using enum ElementOperation;
const Combination kCombinations[] = {
    {TensorType::U32, ElementType::U32, {Add, Min, Max, Inc, Dec, And, Or, Xor}},
    {TensorType::S32, ElementType::S32, {Add, Min, Max, And, Or, Xor}},
    {TensorType::U64, ElementType::U64, {Add, Min, Max, And, Or, Xor}},
    {TensorType::S64, ElementType::S64, {Min, Max}},
    {TensorType::F16, ElementType::F16, {Add, Min, Max}},
    {TensorType::BF16, ElementType::BF16, {Add, Min, Max}},
    {TensorType::F32, ElementType::F32, {Add}},
    {TensorType::F32Flushed, ElementType::F32Flushed, {Add}},
    {TensorType::F64, ElementType::F64, {Add}},
};

} // namespace

bool element_type(TensorType type, ElementOperation operation, ElementType &out) {
    for (const Combination &row : kCombinations)
        if (row.type == type) {
            out = row.element;
            return std::ranges::find(row.operations, operation) != row.operations.end();
        }
    return false;
}

unsigned span_of(TensorSwizzle swizzle) {
    return swizzle == TensorSwizzle::None ? 0 : 16u << static_cast<unsigned>(swizzle);
}

namespace {

bool is_float(TensorType type) { return type >= TensorType::F16; }

const char *dimension_fault(const TensorMap &map, unsigned d) {
    constexpr std::uint32_t kMostExtent = std::uint32_t{1} << 31;
    constexpr std::uint64_t kMostStride = std::uint64_t{1} << 40;
    if (map.extents[d] == 0 || map.extents[d] > kMostExtent)
        return "an extent of the tensor is 0 or greater than 2^31";
    if (map.box[d] == 0 || map.box[d] > TensorMap::kMostBox)
        return "an extent of the box is not between 1 and 256";
    if (map.steps[d] == 0 || map.steps[d] > TensorMap::kMostStep)
        return "an element stride is not between 1 and 8";
    if (d > 0 && (map.strides[d - 1] % 16 != 0 || map.strides[d - 1] >= kMostStride))
        return "a stride of the tensor is no multiple of 16 bytes below 2^40";
    return nullptr;
}

} // namespace

const char *TensorMap::find_fault() const {
    if (mark != kMark)
        return "it was not made by cuTensorMapEncodeTiled";
    if (type >= TensorType::Count || swizzle >= TensorSwizzle::Count)
        return "its type or swizzle is unknown";
    if (rank == 0 || rank > kMostDimensions)
        return "a tensor has 1 to 5 dimensions";
    if (address % 16 != 0)
        return "the tensor's address is no multiple of 16";
    for (unsigned d = 0; d < rank; d++)
        if (const char *fault = dimension_fault(*this, d))
            return fault;
    const unsigned inner = box[0] * bytes_of(type);
    if (inner % 16 != 0)
        return "the box's innermost extent is no multiple of 16 bytes";
    if (swizzle != TensorSwizzle::None && inner > span_of(swizzle))
        return "the box's innermost extent is longer than the swizzle's span";
    if (fills_with_nan && !is_float(type))
        return "only tensors of floats can be filled with NaN";
    return nullptr;
}

// An H100 refuses both, although the manual does not say so.
const char *TensorMap::find_fault_of_place(std::span<const std::int32_t> begin,
                                           BoxAccess access) const {
    if (begin[0] * static_cast<std::int64_t>(bytes_of(type)) % 16 != 0)
        return "the box's innermost coordinate is no multiple of 16 bytes";
    if (access == BoxAccess::Store &&
        std::ranges::any_of(begin.first(rank), [](std::int32_t at) { return at < 0; }))
        return "a box that is stored has a negative coordinate";
    return nullptr;
}

unsigned TensorMap::count(unsigned dimension) const {
    // The first dimension has no steps.
    return dimension == 0 ? box[0] : (box[dimension] + steps[dimension] - 1u) / steps[dimension];
}

std::uint32_t TensorMap::box_bytes() const {
    std::uint32_t bytes = bytes_of(type);
    for (unsigned d = 0; d < rank; d++)
        bytes *= count(d);
    return bytes;
}

std::uint32_t TensorMap::row_pitch() const {
    return std::max<std::uint32_t>(box[0] * bytes_of(type), span_of(swizzle));
}

} // namespace softcuda
