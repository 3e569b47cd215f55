// matrix_descriptor.h -- the layout of a matrix in shared memory that wgmma multiplies.
//
// Of A or B an instruction takes rows (of B columns) of 32 bytes, which is all of its k. The 64
// bits of a descriptor give their addresses:
//
//     bits 0-13    begin, in units of 16 bytes, as the following offsets are
//     bits 16-29   leading offset
//     bits 32-45   stride offset
//     bits 49-51   base offset: the line of 128 bytes, of eight, in which a swizzle's pattern
//     begins bits 62-63   swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32
//
// If elements of k are adjacent, eight rows are a group, and groups are the stride offset apart.
// Without a swizzle a row's two chunks of 16 bytes are the leading offset apart, and the rows of a
// group 16 bytes; with one its span.
//
// A transposed matrix has 16-bit elements, and a chunk is eight rows at one k. Eight values of k
// are a group.                                    apart: chunks       values of k   groups of k
//     no swizzle                                  stride offset       16 bytes      leading offset
//     swizzle: as many chunks as its span has     16 bytes            the span      stride offset
//              those after them                   leading offset
#pragma once

#include "support/tensor_map.h"

#include <cstdint>

namespace softcuda::rt {

class MatrixDescriptor {
  public:
    explicit MatrixDescriptor(std::uint64_t bits) noexcept;

    /// Offset in the block's shared memory of byte `k` of a row.
    [[nodiscard]] std::uint64_t place(std::uint32_t row, std::uint32_t k) const noexcept;
    /// The offset of the 16-bit element `k` of a row of a transposed matrix.
    [[nodiscard]] std::uint64_t transposed_place(std::uint32_t row, std::uint32_t k) const noexcept;

  private:
    [[nodiscard]] std::uint64_t exchanged(std::uint64_t offset) const noexcept;

    std::uint64_t begin_, leading_, stride_;
    std::uint64_t base_line_;
    TensorSwizzle swizzle_;
};

} // namespace softcuda::rt
