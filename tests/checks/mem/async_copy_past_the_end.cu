// async_copy_past_the_end.cu -- the last asynchronous copy of 16 bytes begins inside its array and ends outside.
// ARRAY in float[124] = iota
// ARRAY out float[128]
// LAUNCH copy<<<1, 32>>>(in, out)
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void copy(const float *in, float *out) {
    __shared__ __align__(16) float tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 16); // FINDS mem out-of-bounds
    __pipeline_commit();
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i)
        out[4 * t + i] = tile[4 * t + i];
}
