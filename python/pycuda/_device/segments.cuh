// segments.cuh -- reduces each segment of an array to one element.
//
// Defined before this file: the struct Join, whose operate(index, a, b) combines two elements of
// type Join::O.
#pragma once

using T = Join::O;

extern "C" __global__ void __launch_bounds__(256)
    join(const T *values, const long long *starts, const long long *lengths, T *out,
         long long count) {
    const long long i = blockIdx.x * 256ll + threadIdx.x;
    if (i >= count)
        return;
    const T *value = values + starts[i];
    T joined = value[0];
    for (long long k = 1; k < lengths[i]; ++k)
        joined = Join::operate(0, joined, value[k]);
    out[i] = joined;
}
