// tensor_copy.cpp -- boxes of tensors, row by row.
//
// A row is the part of the box along the innermost dimension. It is contiguous in global memory. In
// shared memory it consists of chunks of 16 bytes, whose order a swizzle changes.
//
//     tensor   ..[########....    row:  begins 2 elements before the tensor, or ends behind it
//                 ^ 6 elements          -> 2 filled, 6 copied
#include "rt/tensor_copy.h"

#include "rt/reduce_elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace softcuda::rt {
namespace {

constexpr std::uint32_t kChunk = 16;
constexpr std::uint32_t kSharedAlignment = 128;
constexpr std::size_t kLongestRow = std::size_t{TensorMap::kMostBox} * 8;

/// The part of a row that is in the tensor.
struct RowPart {
    std::uint64_t address = 0; ///< in global memory
    std::uint32_t skipped = 0; ///< bytes of the row before it
    std::uint32_t bytes = 0;   ///< 0: the row is outside
};

TensorMap read_map(const LaneCaller &lane, const BulkForm &form, const TensorPlace &place,
                   BoxAccess access) {
    TensorMap map;
    if (!guarded_copy(&map, place.map, sizeof map))
        lane.fail(Fault::IllegalAddress, place.map, "there is no tensor map");
    if (const char *fault = map.find_fault())
        lane.fail(Fault::InvalidInstruction, place.map, "a tensor map cannot be used: %s", fault);
    if (map.rank != form.count)
        lane.fail(Fault::InvalidInstruction, place.map,
                  "the tensor map has %u dimensions, but the instruction has %u", map.rank,
                  form.count);
    if (const char *fault = map.find_fault_of_place(place.begin, access))
        lane.fail(Fault::InvalidInstruction, place.map, "a box cannot be copied: %s", fault);
    return map;
}

class Box {
  public:
    Box(const TensorMap &map, const TensorPlace &place) : map_(map), begin_(place.begin) {
        for (unsigned d = 1; d < map.rank; d++)
            rows_ *= map.count(d);
    }

    [[nodiscard]] std::uint32_t rows() const { return rows_; }
    [[nodiscard]] RowPart part(std::uint32_t row) const;

  private:
    const TensorMap &map_;
    std::array<std::int32_t, TensorMap::kMostDimensions> begin_;
    std::uint32_t rows_ = 1;
};

RowPart Box::part(std::uint32_t row) const {
    const std::int64_t each = bytes_of(map_.type);
    std::uint64_t address = map_.address;
    for (unsigned d = 1; d < map_.rank; d++) {
        const std::int64_t index = begin_[d] + std::int64_t{row % map_.count(d)} * map_.steps[d];
        row /= map_.count(d);
        if (index < 0 || index >= map_.extents[d])
            return {};
        address += static_cast<std::uint64_t>(index) * map_.strides[d - 1];
    }
    const std::int64_t begin = std::max<std::int64_t>(begin_[0], 0);
    const std::int64_t end =
        std::min<std::int64_t>(std::int64_t{begin_[0]} + map_.box[0], map_.extents[0]);
    if (begin >= end)
        return {};
    return {address + static_cast<std::uint64_t>(begin * each),
            static_cast<std::uint32_t>((begin - begin_[0]) * each),
            static_cast<std::uint32_t>((end - begin) * each)};
}

/// A row's bytes in shared memory.
class SharedRow {
  public:
    SharedRow(const LaneCaller &lane, const TensorMap &map, std::uint64_t box, std::uint32_t row)
        : swizzle_(map.swizzle), offset_(lane.offset_in_block(box)), window_(box - offset_),
          bytes_(map.box[0] * bytes_of(map.type)) {
        offset_ += std::uint64_t{row} * map.row_pitch();
    }

    void write(const std::byte *from) const {
        for (std::uint32_t at = 0; at < bytes_; at += kChunk)
            std::memcpy(chunk(at), from + at, kChunk);
    }
    void read(std::byte *to) const {
        for (std::uint32_t at = 0; at < bytes_; at += kChunk)
            std::memcpy(to + at, chunk(at), kChunk);
    }

  private:
    [[nodiscard]] std::byte *chunk(std::uint32_t at) const {
        return reinterpret_cast<std::byte *>(window_ + swizzled(swizzle_, offset_ + at));
    }

    TensorSwizzle swizzle_;
    std::uint64_t offset_; ///< in the block's shared memory
    std::uint64_t window_;
    std::uint32_t bytes_;
};

/// A NaN as an H100 writes it: these 16 bits in all types.
void fill(const TensorMap &map, std::byte *row, std::uint32_t bytes) {
    constexpr std::uint16_t kNan = 0x7ff7;
    if (!map.fills_with_nan) {
        std::memset(row, 0, bytes);
        return;
    }
    for (std::uint32_t at = 0; at < bytes; at += sizeof kNan)
        std::memcpy(row + at, &kNan, sizeof kNan);
}

/// Rounds f32 to tf32 as an H100 does: to the nearest, to even between two; denormals too.
void round_to_tf32(std::byte *row, std::uint32_t bytes) {
    constexpr std::uint32_t kDropped = 0x1fff, kInfinity = 0x7f80'0000, kNan = 0x7fff'e000;
    for (std::uint32_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, row + at, sizeof bits);
        const bool is_nan = (bits & 0x7fff'ffff) > kInfinity;
        const std::uint32_t rounded = bits + (kDropped >> 1) + (bits >> 13 & 1);
        bits = is_nan ? kNan : rounded & ~kDropped;
        std::memcpy(row + at, &bits, sizeof bits);
    }
}

void load_row(const LaneCaller &lane, const TensorMap &map, const RowPart &part, const CopyEnd &end,
              std::byte *row) {
    const std::uint32_t bytes = map.box[0] * bytes_of(map.type);
    if (part.bytes != bytes)
        fill(map, row, bytes);
    if (part.bytes == 0)
        return;
    lane.require(part.address, part.bytes, Access::Load, end);
    std::memcpy(row + part.skipped, reinterpret_cast<const std::byte *>(part.address), part.bytes);
    if (map.type == TensorType::TF32 || map.type == TensorType::TF32Flushed)
        round_to_tf32(row + part.skipped, part.bytes);
}

void require_box(const LaneCaller &lane, const TensorMap &map, const Box &box,
                 std::uint64_t address, Access access, const CopyEnd &end) {
    lane.require_alignment(address, kSharedAlignment, access);
    const std::uint64_t bytes = std::uint64_t{box.rows()} * map.row_pitch();
    lane.require_shared(address, bytes, "the box");
    lane.require(address, bytes, access, end);
}

void deliver(const LaneCaller &lane, const TensorMap &map, const Box &box, std::uint64_t to,
             std::uint64_t barrier) {
    const CopyEnd end{CopyEnd::By::Barrier, barrier};
    require_box(lane, map, box, to, Access::Store, end);
    lane.require_shared(barrier, sizeof(std::uint64_t), "the mbarrier");
    std::byte row[kLongestRow];
    for (std::uint32_t n = 0; n < box.rows(); n++) {
        load_row(lane, map, box.part(n), end, row);
        SharedRow(lane, map, to, n).write(row);
    }
    lane.complete_transactions(barrier, map.box_bytes());
}

} // namespace

void load_box(const LaneCaller &lane, const BulkForm &form, const TensorPlace &place,
              std::uint64_t to, std::uint64_t barrier, std::uint32_t mask) {
    const TensorMap map = read_map(lane, form, place, BoxAccess::Load);
    const Box box(map, place);
    if (!form.multicast)
        return deliver(lane, map, box, to, barrier);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto rank = static_cast<std::uint32_t>(std::countr_zero(left));
        deliver(lane, map, box, lane.in_block(to, rank), lane.in_block(barrier, rank));
    }
}

void store_box(const LaneCaller &lane, const BulkForm &form, const TensorPlace &place,
               std::uint64_t from) {
    const TensorMap map = read_map(lane, form, place, BoxAccess::Store);
    const Box box(map, place);
    ElementForm element = form.element;
    const bool combines = element.operation != ElementOperation::Copy;
    if (combines && !element_type(map.type, element.operation, element.type))
        lane.fail(Fault::InvalidInstruction, place.map,
                  "this operation is not defined for elements of the tensor map's type");
    const CopyEnd end{CopyEnd::By::Group};
    require_box(lane, map, box, from, Access::Load, end);
    std::byte row[kLongestRow];
    for (std::uint32_t n = 0; n < box.rows(); n++) {
        const RowPart part = box.part(n);
        if (part.bytes == 0)
            continue;
        SharedRow(lane, map, from, n).read(row);
        lane.require(part.address, part.bytes, combines ? Access::Atomic : Access::Store, end);
        auto *to = reinterpret_cast<std::byte *>(part.address);
        if (combines)
            reduce_elements(element, to, row + part.skipped, part.bytes);
        else
            std::memcpy(to, row + part.skipped, part.bytes);
    }
}

} // namespace softcuda::rt
