// fused_rows_join.cuh -- combines the states of a team. Each thread of the team gets the result.
//
// First the lanes of a warp as a tree, then the eight warps of a block, or the eight threads of a
// column, as a tree. The text before this file defines S, combine(), and reduction_states.cuh.
#pragma once

__device__ __forceinline__ S join(S total) {
#if TEAM >= 32
#pragma unroll
    for (int half = 16; half > 0; half /= 2)
        total = combine(total, array_from_above(total, half));
#endif
#if TEAM == 32
    total = array_from_lane(total, 0);
#elif TEAM > 1
    __shared__ array_states<S>::Unit memory[256 * sizeof(S) / sizeof(array_states<S>::Unit)];
    const array_states<S> shared{memory};
#if TEAM_COLUMNS
    const int first = threadIdx.x & 31, apart = 32;
    shared.put(threadIdx.x, total);
#else
    const int first = 0, apart = 1;
    if ((threadIdx.x & 31) == 0)
        shared.put(threadIdx.x >> 5, total);
#endif
    __syncthreads();
    S states[8];
#pragma unroll
    for (int k = 0; k < 8; ++k)
        states[k] = shared.get(first + k * apart, total);
#pragma unroll
    for (int half = 4; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; ++k)
            states[k] = combine(states[k], states[k + half]);
    total = states[0];
#endif
    return total;
}
