// walk_elements.cuh -- contiguous elements without packs: a thread's elements are a block apart.
#pragma once

#define ARRAY(name) type_##name array_##name[per_thread];
#define LOAD(name) array_##name[u] = name[i];
#define LOADED(name) array_##name[u]

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, unsigned long long n) {
    BEGIN;
    const unsigned long long first = blockIdx.x * (256ull * per_thread) + threadIdx.x;
#if IN_TURN
#pragma unroll 1
    for (int u = 0; u < per_thread; ++u) {
        const unsigned long long i = first + u * blockDim.x;
        if (i < n)
            COMPUTE_I;
    }
#else
    // All loads come before the first store. A result may be an operand, so the compiler does not
    // move a load before a store.
    MASKS(ARRAY);
    OPERANDS(ARRAY);
#pragma unroll
    for (int u = 0; u < per_thread; ++u) {
        const unsigned long long i = first + u * blockDim.x;
        if (i < n) {
            MASKS(LOAD);
            OPERANDS(LOAD);
        }
    }
#pragma unroll
    for (int u = 0; u < per_thread; ++u) {
        const unsigned long long i = first + u * blockDim.x;
        if (i < n)
            EVALUATE(i, LOADED, PLACE_I, STORE_I)
    }
#endif
}
