// walk_long_vectors.cuh -- as walk_vectors.cuh, with one copy of long code for many elements.
//
// The packs are shifted by one element after each element, so that the code always uses the first.
#pragma once

#define PACK(name) Pack<type_##name, LENGTH>
#define LOAD_PACK(name)                                                                            \
    PACK(name) pack_##name;                                                                        \
    if (whole)                                                                                     \
        pack_##name = *reinterpret_cast<const PACK(name) *>(name + start);                         \
    else                                                                                           \
        _Pragma("unroll") for (int k = 0; k < LENGTH; ++k) pack_##name.v[k] =                      \
            start + k < n ? name[start + k] : type_##name();
#define RESULT_PACK(name) PACK(name) pack_##name = {};
#define FIRST_ELEMENT(name) pack_##name.v[0]
#define SHIFT(name) pack_##name.v[j] = pack_##name.v[j + 1];
#define SET_LAST(name) pack_##name.v[LENGTH - 1] = results.name;
#define STORE_PACK(name)                                                                           \
    if (whole)                                                                                     \
        *reinterpret_cast<PACK(name) *>(name + start) = pack_##name;                               \
    else                                                                                           \
        _Pragma("unroll") for (int k = 0; k < LENGTH; ++k) if (start + k < n) name[start + k] =    \
            pack_##name.v[k];

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, unsigned long long n) {
    BEGIN;
    const unsigned long long start = (blockIdx.x * 256ull + threadIdx.x) * LENGTH;
    if (start >= n)
        return;
    const bool whole = start + LENGTH <= n;
    OPERANDS(LOAD_PACK);
    RESULTS(RESULT_PACK);
    // Four copies were 7 % faster on an H200.
    constexpr int copies = LENGTH <= 4 ? LENGTH : 1;
#pragma unroll copies
    for (int k = 0; k < LENGTH; ++k) {
        const Results results = COMPUTE(start + k, FIRST_ELEMENT);
#pragma unroll
        for (int j = 0; j + 1 < LENGTH; ++j) {
            OPERANDS(SHIFT);
            RESULTS(SHIFT);
        }
        RESULTS(SET_LAST);
    }
    RESULTS(STORE_PACK);
}
