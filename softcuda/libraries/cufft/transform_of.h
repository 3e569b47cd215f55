// transform_of.h -- the definitions of transform.h, for the two sources that instantiate them.
#pragma once

#include "transform.h"

#include <ducc0/fft/fft.h>
#include <ducc0/fft/fftnd_impl.h>

#include <algorithm>
#include <thread>

namespace softcufft {
namespace {

std::vector<std::size_t> shape_of(const Layout &layout) {
    return {layout.shape.begin(), layout.shape.end()};
}
std::vector<std::ptrdiff_t> strides_of(const Layout &layout) {
    return {layout.strides.begin(), layout.strides.end()};
}

std::vector<std::size_t> axes_of(const Layout &layout) {
    std::vector<std::size_t> axes;
    for (std::size_t axis = layout.batches; axis < layout.shape.size(); ++axis)
        axes.push_back(axis);
    return axes;
}

/// A thread for each 2^15 elements, which take about 0.2 ms: less does not pay for waking it.
std::size_t threads_for(const Layout &layout) {
    std::int64_t elements = 1;
    for (const std::int64_t size : layout.shape)
        elements *= size;
    const std::int64_t wanted = elements >> 15;
    if (wanted <= 1)
        return 1; // the question below opens a file: 10 us, far more than a short transform
    const auto most = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    return static_cast<std::size_t>(std::clamp<std::int64_t>(most, 1, wanted));
}

} // namespace

template <class T>
void transform(const Layout &from, const std::complex<T> *input, const Layout &to,
               std::complex<T> *output, Direction direction) {
    const ducc0::cfmav<std::complex<T>> source(input, shape_of(from), strides_of(from));
    const ducc0::vfmav<std::complex<T>> target(output, shape_of(to), strides_of(to));
    ducc0::c2c(source, target, axes_of(from), direction == Direction::Forward, T{1},
               threads_for(from));
}

template <class T>
void transform(const Layout &from, const T *input, const Layout &to, std::complex<T> *output) {
    const ducc0::cfmav<T> source(input, shape_of(from), strides_of(from));
    const ducc0::vfmav<std::complex<T>> target(output, shape_of(to), strides_of(to));
    ducc0::r2c(source, target, axes_of(from), true, T{1}, threads_for(from));
}

template <class T>
void transform(const Layout &from, const std::complex<T> *input, const Layout &to, T *output) {
    const ducc0::cfmav<std::complex<T>> source(input, shape_of(from), strides_of(from));
    const ducc0::vfmav<T> target(output, shape_of(to), strides_of(to));
    ducc0::c2r(source, target, axes_of(from), false, T{1}, threads_for(to));
}

} // namespace softcufft

/// Instantiates all transforms of T.
#define SOFTCUFFT_TRANSFORMS(T)                                                                    \
    namespace softcufft {                                                                          \
    template void transform(const Layout &, const std::complex<T> *, const Layout &,               \
                            std::complex<T> *, Direction);                                         \
    template void transform(const Layout &, const T *, const Layout &, std::complex<T> *);         \
    template void transform(const Layout &, const std::complex<T> *, const Layout &, T *);         \
    }
