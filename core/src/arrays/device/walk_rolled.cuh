// walk_rolled.cuh -- contiguous elements, for a CPU whose vectors are warps.
//
// Packs would have to be split into vectors of first, second, ... elements. The processor overlaps
// the iterations of a loop as well as copies of its body, and copies take time to compile. So
// neighbouring threads process neighbouring elements. Warps run one after another, and each warp
// has one piece of the tile: then a core reads memory in order, which its prefetcher needs.
#pragma once

#define TILE_LOOP for (unsigned u = 0; u < 32 * per_thread; u += 32)
#define DECLARE_ZERO(name) type_##name value_##name = type_##name();
#define LOAD_INSIDE(name)                                                                          \
    if (inside)                                                                                    \
        value_##name = name[i];
#define VALUE(name) value_##name

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, unsigned long long n) {
    BEGIN;
    const unsigned long long tile = blockIdx.x * (256ull * per_thread);
    const unsigned long long first = tile + FIRST_IN_PIECE(threadIdx.x);
#if ONE_LOOP
    // One copy of long code for whole tiles and for the last tile. Elements past the end are
    // computed from zeros, without a test. The asm hides that the tests are equal: otherwise the
    // compiler would make one branch around all of the code.
#pragma unroll 1
    TILE_LOOP {
        const unsigned long long i = first + u;
        int inside = i < n;
        OPERANDS(DECLARE_ZERO);
        OPERANDS(LOAD_INSIDE);
        const Results results = COMPUTE(i, VALUE);
        asm("" : "+r"(inside));
        if (inside) {
            RESULTS(STORE_I);
        }
    }
#else
    // A whole tile has its own loop, without the test for the end.
    if (tile + block * per_thread <= n) {
#pragma unroll 1
        TILE_LOOP {
            const unsigned long long i = first + u;
            COMPUTE_I;
        }
    } else {
#pragma unroll 1
        TILE_LOOP {
            const unsigned long long i = first + u;
            if (i < n)
                COMPUTE_I;
        }
    }
#endif
}
