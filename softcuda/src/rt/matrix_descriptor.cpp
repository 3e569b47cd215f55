// matrix_descriptor.cpp -- the layouts of matrix_descriptor.h.
#include "rt/matrix_descriptor.h"

namespace softcuda::rt {
namespace {

constexpr std::uint64_t kMatrixChunk = 16, kGroup = 8, kLine = 128;

std::uint64_t field(std::uint64_t bits, unsigned first) {
    return (bits >> first & 0x3fff) * kMatrixChunk;
}

} // namespace

MatrixDescriptor::MatrixDescriptor(std::uint64_t bits) noexcept
    : begin_(field(bits, 0)), leading_(field(bits, 16)), stride_(field(bits, 32)),
      base_line_(bits >> 49 & 7) {
    constexpr TensorSwizzle kSwizzles[] = {TensorSwizzle::None, TensorSwizzle::Bytes128,
                                           TensorSwizzle::Bytes64, TensorSwizzle::Bytes32};
    swizzle_ = kSwizzles[bits >> 62];
}

// As `swizzled`, with lines counted from the one in which the pattern begins.
std::uint64_t MatrixDescriptor::exchanged(std::uint64_t offset) const noexcept {
    const std::uint64_t chunks = (std::uint64_t{1} << static_cast<unsigned>(swizzle_)) - 1;
    return offset ^ ((offset / kLine - base_line_) & chunks) * kMatrixChunk;
}

std::uint64_t MatrixDescriptor::place(std::uint32_t row, std::uint32_t k) const noexcept {
    const bool plain = swizzle_ == TensorSwizzle::None;
    const std::uint64_t pitch = plain ? kMatrixChunk : span_of(swizzle_);
    const std::uint64_t chunk = k / kMatrixChunk * (plain ? leading_ : kMatrixChunk);
    return exchanged(begin_ + row / kGroup * stride_ + row % kGroup * pitch + chunk) +
           k % kMatrixChunk;
}

std::uint64_t MatrixDescriptor::transposed_place(std::uint32_t row,
                                                 std::uint32_t k) const noexcept {
    const std::uint64_t chunk = row / kGroup, within = row % kGroup * sizeof(std::uint16_t);
    if (swizzle_ == TensorSwizzle::None)
        return begin_ + chunk * stride_ + k % kGroup * kMatrixChunk + k / kGroup * leading_ +
               within;
    const std::uint64_t span = span_of(swizzle_), together = span / kMatrixChunk;
    return exchanged(begin_ + chunk % together * kMatrixChunk + chunk / together * leading_ +
                     k % kGroup * span + k / kGroup * stride_) +
           within;
}

} // namespace softcuda::rt
