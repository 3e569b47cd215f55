// async_copy_too_short.cu -- copies 100 elements asynchronously to a tile of 128, and reads all.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH reverse<<<1, 128>>>(in, out, 100)
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void reverse(const float *in, float *out, int n) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    if (t < n)
        __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[127 - t]; // FINDS init uninitialized
}
