// count.h -- numbers of elements and bytes whose arithmetic does not wrap.
//
// A call's sizes are the client's. A product such as (columns - 1) * leading * sizeof(T) may exceed
// 64 bits and wrap to a small number, for which there is enough memory. A Count becomes
// Count::most() instead, for which there never is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace softlib {

class Count {
  public:
    constexpr Count(std::int64_t value) : value_(value) {}
    static constexpr Count most() { return std::numeric_limits<std::int64_t>::max(); }

    [[nodiscard]] constexpr std::int64_t get() const { return value_; }

    friend constexpr Count operator+(Count a, Count b) {
        std::int64_t sum = 0;
        return __builtin_add_overflow(a.value_, b.value_, &sum) ? most() : Count(sum);
    }
    friend constexpr Count operator*(Count a, Count b) {
        std::int64_t product = 0;
        return __builtin_mul_overflow(a.value_, b.value_, &product) ? most() : Count(product);
    }

  private:
    std::int64_t value_;
};

/// The absolute value; Count::most() for the lowest number, which has none.
constexpr Count absolute(std::int64_t value) {
    return value < -Count::most().get() ? Count::most() : Count(value < 0 ? -value : value);
}

/// The number of elements from the first to the last of a matrix.
constexpr Count extent(Count rows, Count columns, Count leading) {
    return rows.get() > 0 && columns.get() > 0 ? Count(columns.get() - 1) * leading + rows
                                               : Count(0);
}

/// The number of elements from the first to the last of a vector.
constexpr Count extent(std::int64_t n, std::int64_t stride) {
    return n > 0 ? Count(n - 1) * absolute(stride) + 1 : Count(0);
}

/// The number of elements of a packed triangle.
constexpr Count triangle(std::int64_t n) {
    return n % 2 == 0 ? Count(n / 2) * (Count(n) + 1) : Count(n) * (n / 2 + 1);
}

/// The number of elements from the first to the last of `count` objects of `each` elements, which
/// begin at a distance of `stride`. 0 for no elements.
constexpr Count extent_of_batch(Count each, std::int64_t stride, std::int64_t count) {
    return each.get() > 0 && count > 0 ? Count(count - 1) * Count(stride) + each : Count(0);
}

} // namespace softlib
