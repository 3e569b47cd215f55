// transform.h -- transforms of memory, by pocketfft's successor in ducc0.
#pragma once

#include "layout.h"

#include <complex>

namespace softcufft {

enum class Direction { Forward, Inverse };

/// Transforms over the dimensions, without a factor. T is float or double. Input and
/// output may be the same memory if equal elements of the two layouts have one place.
template <class T>
void transform(const Layout &from, const std::complex<T> *input, const Layout &to,
               std::complex<T> *output, Direction direction);

/// The real forward transform; `to` has the complex side's shape.
template <class T>
void transform(const Layout &from, const T *input, const Layout &to, std::complex<T> *output);

/// The real inverse transform.
template <class T>
void transform(const Layout &from, const std::complex<T> *input, const Layout &to, T *output);

} // namespace softcufft
