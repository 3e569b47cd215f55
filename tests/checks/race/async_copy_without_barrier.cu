// async_copy_without_barrier.cu -- each thread waits for its own asynchronous copy and reads another thread's.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH reverse<<<1, 128>>>(in, out)
#include <cuda_pipeline_primitives.h>
extern "C" __global__ void reverse(const float *in, float *out) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4); // FINDS race read-after-write
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[127 - t]; // FINDS race read-after-write
}
