// async_copy.cu -- a pipeline of two stages that waits for the right copies.
// ARRAY in float[512] = iota
// ARRAY out float[128]
// LAUNCH sums<<<1, 128>>>(in, out, 4)
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float stage[2][128];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 128 + t], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[k & 1][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
