// spectra.cuh -- what Fourier transforms of real numbers need before and after cuFFT.
//
// Defined before this file: using R, the real type; using Count, an unsigned type that holds the
// number of elements.
#pragma once

struct alignas(2 * sizeof(R)) C {
    R x, y;
};

// From the half of the spectrum of real numbers to all of it, times `scale`. Both are C-contiguous
// with four axes, whose extents in `whole` are e0 to e3. `half` has n / 2 + 1 elements along the
// axis `halved`. The other half are conjugates, at the mirrored places of the transformed axes,
// whose bits are in `mirrored`. For the inverse transform, all elements are conjugated.
extern "C" __global__ void __launch_bounds__(256)
    complete(const C *half, C *whole, Count count, unsigned e0, unsigned e1, unsigned e2,
             unsigned e3, unsigned mirrored, unsigned halved, int inverse, R scale) {
    const Count thread = static_cast<Count>(blockIdx.x) * 256 + threadIdx.x;
    if (thread >= count)
        return;
    const unsigned extent[] = {e0, e1, e2, e3};
    unsigned at[4];
    bool turned = false;
    Count rest = thread;
#pragma unroll
    for (int axis = 3; axis >= 0; --axis) {
        const Count outer = rest / extent[axis];
        at[axis] = static_cast<unsigned>(rest - outer * extent[axis]);
        rest = outer;
        turned |= axis == halved && at[axis] > extent[axis] / 2;
    }
    Count place = 0;
#pragma unroll
    for (int axis = 0; axis < 4; ++axis) {
        const bool turns = turned && (mirrored >> axis & 1) != 0 && at[axis] != 0;
        place = place * (axis == halved ? extent[axis] / 2 + 1 : extent[axis]) +
                (turns ? extent[axis] - at[axis] : at[axis]);
    }
    C value = half[place];
    if (turned != (inverse != 0))
        value.y = R(0) - value.y; // no -0 where the spectrum is real
    whole[thread] = {value.x * scale, value.y * scale};
}

// The spectrum of a real signal of an even or odd length, times `scale`: along an axis of `extent`
// elements, `inner` elements apart, the imaginary parts of elements 0 and `last` become zero.
extern "C" __global__ void __launch_bounds__(256)
    real_ends(const C *in, C *out, Count count, Count extent, Count inner, Count last, R scale) {
    const Count thread = static_cast<Count>(blockIdx.x) * 256 + threadIdx.x;
    if (thread >= count)
        return;
    const Count at = thread / inner % extent;
    const C value = in[thread];
    out[thread] = {value.x * scale, at == 0 || at == last ? R(0) : value.y * scale};
}

// Conjugates, times `scale`.
extern "C" __global__ void __launch_bounds__(256)
    conjugate(const C *in, C *out, Count count, R scale) {
    const Count thread = static_cast<Count>(blockIdx.x) * 256 + threadIdx.x;
    if (thread < count)
        out[thread] = {in[thread].x * scale, -in[thread].y * scale};
}
