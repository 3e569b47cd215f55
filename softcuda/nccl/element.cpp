// element.cpp -- the element types of reductions.
#include "element.h"

#include "failure.h"
#include "target/half_type.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace softnccl {
namespace {

struct Type {
    const char *name;
    std::size_t size;
};
constexpr Type types[] = {{"int8", 1},    {"uint8", 1},   {"int32", 4},   {"uint32", 4},
                          {"int64", 8},   {"uint64", 8},  {"float16", 2}, {"float32", 4},
                          {"float64", 8}, {"bfloat16", 2}};
using softcuda::target::Half;
constexpr const char *operations[] = {"sum", "prod", "max", "min", "avg"};

/// A float32 of which the high half is kept, rounded to nearest even.
struct Bfloat16 {
    std::uint16_t bits;

    operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
    static Bfloat16 from(float value) {
        const auto word = std::bit_cast<std::uint32_t>(value);
        if (value != value)
            return {static_cast<std::uint16_t>((word >> 16) | 0x40)};
        return {static_cast<std::uint16_t>((word + 0x7fff + ((word >> 16) & 1)) >> 16)};
    }
};

/// The type in which two elements are combined, and the conversion back.
template <class T> struct Arithmetic {
    using Wide = T;
    static T narrow(Wide value) { return value; }
};
template <> struct Arithmetic<Half> {
    using Wide = float;
    static Half narrow(float value) { return static_cast<Half>(value); }
};
template <> struct Arithmetic<Bfloat16> {
    using Wide = float;
    static Bfloat16 narrow(float value) { return Bfloat16::from(value); }
};
/// Sums and products of integers wrap, which is undefined for signed types in C++.
template <> struct Arithmetic<std::int8_t> {
    using Wide = std::int32_t;
    static std::int8_t narrow(Wide value) { return static_cast<std::int8_t>(value); }
};

template <class T> T add(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
        return a + b;
    }
}

template <class T> T multiply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    } else {
        return a * b;
    }
}

template <class T>
void reduce_as(void *total, const void *next, std::size_t count, ncclRedOp_t operation) {
    using Wide = typename Arithmetic<T>::Wide;
    auto *to = static_cast<T *>(total);
    const auto *from = static_cast<const T *>(next);
    auto each = [&](auto join) {
        for (std::size_t i = 0; i < count; ++i)
            to[i] =
                Arithmetic<T>::narrow(join(static_cast<Wide>(to[i]), static_cast<Wide>(from[i])));
    };
    switch (operation) {
    case ncclSum:
    case ncclAvg:
        return each([](Wide a, Wide b) { return add(a, b); });
    case ncclProd:
        return each([](Wide a, Wide b) { return multiply(a, b); });
    case ncclMax:
        return each([](Wide a, Wide b) { return a < b || a != a ? b : a; });
    case ncclMin:
        return each([](Wide a, Wide b) { return b < a || a != a ? b : a; });
    }
}

template <class T> void divide_as(void *total, std::size_t count, int ranks) {
    using Wide = typename Arithmetic<T>::Wide;
    auto *to = static_cast<T *>(total);
    for (std::size_t i = 0; i < count; ++i)
        to[i] = Arithmetic<T>::narrow(
            static_cast<Wide>(static_cast<Wide>(to[i]) / static_cast<Wide>(ranks)));
}

/// Calls `use` with a value of the C++ type.
template <class Use> void with_type(ncclDataType_t type, Use use) {
    switch (type) {
    case ncclInt8:
        return use(std::int8_t{});
    case ncclUint8:
        return use(std::uint8_t{});
    case ncclInt32:
        return use(std::int32_t{});
    case ncclUint32:
        return use(std::uint32_t{});
    case ncclInt64:
        return use(std::int64_t{});
    case ncclUint64:
        return use(std::uint64_t{});
    case ncclFloat16:
        return use(static_cast<Half>(0));
    case ncclFloat32:
        return use(float{});
    case ncclFloat64:
        return use(double{});
    case ncclBfloat16:
        return use(Bfloat16{});
    }
}

} // namespace

std::size_t size_of(ncclDataType_t type) {
    if (static_cast<unsigned>(type) >= std::size(types))
        throw Failure(ncclInvalidArgument,
                      "the type of elements must be from 0 to 9, not " + std::to_string(type));
    return types[type].size;
}

const char *name_of(ncclDataType_t type) noexcept {
    return static_cast<unsigned>(type) < std::size(types) ? types[type].name : "unknown type";
}

const char *name_of(ncclRedOp_t operation) noexcept {
    return static_cast<unsigned>(operation) < std::size(operations) ? operations[operation]
                                                                    : "unknown operation";
}

void check_operation(ncclRedOp_t operation) {
    if (static_cast<unsigned>(operation) >= std::size(operations))
        throw Failure(ncclInvalidArgument,
                      "the operation of a reduction must be from 0 to 4, not " +
                          std::to_string(operation));
}

void reduce_into(void *total, const void *next, std::size_t count, ncclDataType_t type,
                 ncclRedOp_t operation) {
    with_type(type, [&](auto value) { reduce_as<decltype(value)>(total, next, count, operation); });
}

void finish_average(void *total, std::size_t count, ncclDataType_t type, int ranks) {
    with_type(type, [&](auto value) { divide_as<decltype(value)>(total, count, ranks); });
}

} // namespace softnccl
