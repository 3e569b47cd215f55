// tensor_map_field.cpp -- the numbers of tensormap.replace, which are not always those of a
// CUtensorMap.
#include "rt/tensor_map_field.h"

#include <cstring>

namespace softcuda::rt {
namespace {

/// By the number that PTX has for it.
TensorType type_of(std::uint64_t number) {
    constexpr TensorType kTypes[] = {
        TensorType::U8,         TensorType::U16, TensorType::U32,  TensorType::S32,
        TensorType::U64,        TensorType::S64, TensorType::F16,  TensorType::F32,
        TensorType::F32Flushed, TensorType::F64, TensorType::BF16, TensorType::TF32,
        TensorType::TF32Flushed};
    return number < std::size(kTypes) ? kTypes[number] : TensorType::Count;
}

TensorSwizzle swizzle_of(std::uint64_t number) {
    return number < static_cast<std::uint64_t>(TensorSwizzle::Count)
               ? static_cast<TensorSwizzle>(number)
               : TensorSwizzle::Count;
}

void set(TensorMap &map, const TensorMapField &field, std::uint64_t value) {
    switch (field.kind) {
    case TensorMapField::Kind::Address:
        map.address = value;
        break;
    case TensorMapField::Kind::Rank: // counts from zero
        map.rank = fitting<std::uint8_t>(value + 1);
        break;
    case TensorMapField::Kind::Box:
        map.box[field.dimension] = fitting<std::uint16_t>(value);
        break;
    case TensorMapField::Kind::Extent:
        map.extents[field.dimension] = fitting<std::uint32_t>(value);
        break;
    case TensorMapField::Kind::Stride:
        map.strides[field.dimension] = value;
        break;
    case TensorMapField::Kind::Step:
        map.steps[field.dimension] = fitting<std::uint8_t>(value);
        break;
    case TensorMapField::Kind::Type:
        map.type = type_of(value);
        break;
    case TensorMapField::Kind::Swizzle:
        map.swizzle = swizzle_of(value);
        break;
    case TensorMapField::Kind::Fill:
        map.fills_with_nan = value != 0;
        break;
    }
}

} // namespace

void replace_field(const LaneCaller &lane, const TensorMapField &field, std::uint64_t address,
                   std::uint64_t value) {
    lane.require(address, sizeof(TensorMap), Access::Atomic);
    auto *place = reinterpret_cast<std::byte *>(address);
    TensorMap map;
    std::memcpy(static_cast<void *>(&map), place, sizeof map);
    if (map.mark != TensorMap::kMark)
        lane.fail(Fault::InvalidInstruction, address,
                  "a tensor map cannot be changed: it was not made by cuTensorMapEncodeTiled");
    set(map, field, value);
    std::memcpy(place, &map, sizeof map);
}

} // namespace softcuda::rt
