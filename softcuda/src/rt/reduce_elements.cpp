// reduce_elements.cpp -- combines each element in a compare-and-exchange loop.
#include "rt/reduce_elements.h"

#include "rt/texture_texel.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

namespace softcuda::rt {
namespace {

constexpr std::uint16_t kHalfNan = 0x7fff;
constexpr std::uint32_t kFloatNan = 0x7fffffff;
constexpr std::uint64_t kDoubleNan = 0xfff8'0000'0000'0000;

float flushed(float value) {
    return std::abs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
}

std::uint16_t to_bfloat(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (value != value)
        return kHalfNan;
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

float from_bfloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

/// The smaller or greater one; a number rather than NaN, and -0 before +0.
template <class Float> Float extreme(Float a, Float b, bool largest) {
    if (a != a || b != b)
        return a != a ? b : a;
    if (a == b)
        return std::signbit(a) == largest ? b : a;
    return (a > b) == largest ? a : b;
}

template <class Word> Word combine_integers(ElementOperation operation, Word old, Word value) {
    switch (operation) {
    case ElementOperation::Min:
        return old < value ? old : value;
    case ElementOperation::Max:
        return old > value ? old : value;
    case ElementOperation::Inc:
        return old >= value ? 0 : old + 1;
    case ElementOperation::Dec:
        return old == 0 || old > value ? value : old - 1;
    case ElementOperation::And:
        return old & value;
    case ElementOperation::Or:
        return old | value;
    case ElementOperation::Xor:
        return old ^ value;
    case ElementOperation::Copy:
        return value;
    case ElementOperation::Add:
        break;
    }
    using Unsigned = std::make_unsigned_t<Word>; // sums may wrap
    return static_cast<Word>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
}

template <class Float> Float combine_floats(ElementOperation operation, Float old, Float value) {
    return operation == ElementOperation::Add
               ? old + value
               : extreme(old, value, operation == ElementOperation::Max);
}

template <class Word, class Combine>
void exchange_all(std::byte *to, const std::byte *from, std::size_t bytes, Combine combine) {
    for (std::size_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
        Word value;
        std::memcpy(&value, from + at, sizeof value);
        std::atomic_ref<Word> place(*reinterpret_cast<Word *>(to + at));
        Word old = place.load(std::memory_order_relaxed);
        while (!place.compare_exchange_weak(old, combine(old, value), std::memory_order_relaxed))
            ;
    }
}

template <class Word>
void integers(ElementOperation operation, std::byte *to, const std::byte *from, std::size_t bytes) {
    exchange_all<Word>(to, from, bytes, [operation](Word old, Word value) {
        return combine_integers(operation, old, value);
    });
}

void halves(ElementForm form, std::byte *to, const std::byte *from, std::size_t bytes) {
    const bool wide = form.type == ElementType::BF16;
    exchange_all<std::uint16_t>(to, from, bytes, [=](std::uint16_t old, std::uint16_t value) {
        const float a = wide ? from_bfloat(old) : half_to_float(old);
        const float b = wide ? from_bfloat(value) : half_to_float(value);
        const float result = combine_floats(form.operation, a, b);
        return wide ? to_bfloat(result) : float_to_half(result);
    });
}

template <class Adjust>
void singles(ElementOperation operation, std::byte *to, const std::byte *from, std::size_t bytes,
             Adjust adjust) {
    exchange_all<std::uint32_t>(to, from, bytes, [=](std::uint32_t old, std::uint32_t value) {
        const float result = adjust(combine_floats(operation, adjust(std::bit_cast<float>(old)),
                                                   adjust(std::bit_cast<float>(value))));
        return result == result ? std::bit_cast<std::uint32_t>(result) : kFloatNan;
    });
}

/// A NaN is kept unchanged; if both are NaN, the old one. A sum of two infinities is the hardware's
/// NaN, which not every processor has.
std::uint64_t combine_doubles(ElementOperation operation, std::uint64_t old, std::uint64_t value) {
    const auto a = std::bit_cast<double>(old), b = std::bit_cast<double>(value);
    if (a != a || b != b)
        return a != a ? old : value;
    const double result = combine_floats(operation, a, b);
    return result == result ? std::bit_cast<std::uint64_t>(result) : kDoubleNan;
}

} // namespace

void reduce_elements(ElementForm form, std::byte *to, const std::byte *from,
                     std::size_t bytes) noexcept {
    switch (form.type) {
    case ElementType::U32:
        return integers<std::uint32_t>(form.operation, to, from, bytes);
    case ElementType::S32:
        return integers<std::int32_t>(form.operation, to, from, bytes);
    case ElementType::U64:
        return integers<std::uint64_t>(form.operation, to, from, bytes);
    case ElementType::S64:
        return integers<std::int64_t>(form.operation, to, from, bytes);
    case ElementType::F16:
    case ElementType::BF16:
        return halves(form, to, from, bytes);
    case ElementType::F32:
        return singles(form.operation, to, from, bytes, [](float value) { return value; });
    case ElementType::F32Flushed:
        return singles(form.operation, to, from, bytes, flushed);
    case ElementType::F64:
        return exchange_all<std::uint64_t>(to, from, bytes,
                                           [=](std::uint64_t old, std::uint64_t value) {
                                               return combine_doubles(form.operation, old, value);
                                           });
    }
}

} // namespace softcuda::rt
