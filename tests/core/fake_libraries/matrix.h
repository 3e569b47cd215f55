// matrix.h -- column-major matrices, and their numbers, for the fake cuBLAS and cuSOLVER.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace fake {

template <class T> struct RealOf {
    using Type = T;
};
template <class R> struct RealOf<std::complex<R>> {
    using Type = R;
};
template <class T> using Real = typename RealOf<T>::Type;

template <class T> T conjugate(T x) {
    if constexpr (std::is_same_v<T, Real<T>>)
        return x;
    else
        return std::conj(x);
}
template <class T> Real<T> size_of(T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); }

/// A column-major matrix.
template <class T> struct Matrix {
    T *data;
    std::int64_t rows, columns, leading;
    T &operator()(std::int64_t i, std::int64_t j) const { return data[i + j * leading]; }
};

/// A contiguous copy in long double, in which squares of very large numbers do not overflow.
template <class T> class WideCopy {
  public:
    using Number =
        std::conditional_t<std::is_same_v<T, Real<T>>, long double, std::complex<long double>>;
    WideCopy(std::int64_t rows, std::int64_t columns)
        : numbers_(static_cast<std::size_t>(rows * columns)),
          matrix{numbers_.data(), rows, columns, rows} {}
    WideCopy(const Matrix<T> &from, std::int64_t columns) : WideCopy(from.rows, columns) {
        for (std::int64_t j = 0; j < std::min(columns, from.columns); ++j)
            for (std::int64_t i = 0; i < from.rows; ++i)
                matrix(i, j) = static_cast<Number>(from(i, j));
    }
    void put(const Matrix<T> &to) const {
        for (std::int64_t j = 0; j < matrix.columns; ++j)
            for (std::int64_t i = 0; i < matrix.rows; ++i)
                to(i, j) = static_cast<T>(matrix(i, j));
    }

  private:
    std::vector<Number> numbers_;

  public:
    const Matrix<Number> matrix;
};

} // namespace fake
