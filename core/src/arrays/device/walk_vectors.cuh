// walk_vectors.cuh -- contiguous elements: a block computes a tile, a thread a pack of 16 bytes.
//
// More packs in flight per thread were slower on an H200.
#pragma once

#define PACK(name) Pack<type_##name, LENGTH>
#define LOAD_PACK(name)                                                                            \
    const auto pack_##name = *reinterpret_cast<const PACK(name) *>(name + start);
#define RESULT_PACK(name) PACK(name) pack_##name;
#define PACK_ELEMENT(name) pack_##name.v[k]
#define PACK_PLACE(name) (name + start + k)
#define SET_ELEMENT(name) pack_##name.v[k] = results.name;
#define STORE_PACK(name) *reinterpret_cast<PACK(name) *>(name + start) = pack_##name;

extern "C" __global__ void __launch_bounds__(block) KERNEL(PARAMETERS, unsigned long long n) {
    BEGIN;
    const unsigned long long tile = block * LENGTH, first = blockIdx.x * tile;
    const unsigned long long start = first + threadIdx.x * LENGTH;
    if (first + tile <= n) {
        OPERANDS(LOAD_PACK);
        RESULTS(RESULT_PACK);
#pragma unroll
        for (int k = 0; k < LENGTH; ++k)
            EVALUATE(start + k, PACK_ELEMENT, PACK_PLACE, SET_ELEMENT)
        RESULTS(STORE_PACK);
        return;
    }
    for (unsigned long long i = first + threadIdx.x; i < n; i += blockDim.x)
        COMPUTE_I;
}
