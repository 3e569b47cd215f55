// vectors.h -- GCC's vector types of 64 bytes; the compiler splits them if registers are narrower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace vectors {

constexpr int kWidth = 16;
using Floats = float __attribute__((vector_size(64)));
using Ints = int __attribute__((vector_size(64)));
using Words = unsigned __attribute__((vector_size(64)));

template <class Vector> inline Vector load(const void *from) {
    Vector value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class Vector> inline void store(void *to, Vector value) {
    std::memcpy(to, &value, sizeof value);
}

template <class Vector> inline auto sum_of_lanes(Vector value) {
    auto sum = value[0];
    for (int lane = 1; lane < kWidth; ++lane)
        sum += value[lane];
    return sum;
}

/// Lane i is lane from[i] of the two vectors together.
template <class Vector, class Indices>
inline Vector shuffled(Vector first, Vector second, Indices from) {
#ifdef __clang__ // has no __builtin_shuffle, and turns this loop into one
    Vector result;
    for (int lane = 0; lane < kWidth; ++lane) {
        const auto index = static_cast<int>(from[lane]);
        result[lane] = index < kWidth ? first[index] : second[index - kWidth];
    }
    return result;
#else
    return __builtin_shuffle(first, second, from);
#endif
}

inline bool any_lane(Ints mask) {
    std::int64_t words[8];
    std::memcpy(words, &mask, sizeof words);
    return (words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
            words[7]) != 0;
}

} // namespace vectors
