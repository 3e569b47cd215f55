// filled_part.cuh -- finds the first and the last element of a vector that is not zero.
//
// Defined before this file: using T, the type of the elements.
#pragma once

// ends: two zeros before the launch. ends[0] becomes the size minus the place of the first such
// element, ends[1] the place behind the last one; both remain 0 if all elements are zero.
extern "C" __global__ void __launch_bounds__(256)
    filled_part(const T *elements, long long size, long long *ends) {
    long long first = 0, last = 0;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < size; i += gridDim.x * 256ll)
        if (elements[i] != T(0)) {
            first = first == 0 ? size - i : first;
            last = i + 1;
        }
#pragma unroll
    for (int other = 16; other > 0; other /= 2) {
        first = max(first, __shfl_xor_sync(0xffffffffu, first, other));
        last = max(last, __shfl_xor_sync(0xffffffffu, last, other));
    }
    if (threadIdx.x % 32 == 0 && last != 0) {
        atomicMax(ends, first);
        atomicMax(ends + 1, last);
    }
}
