// last_block_of_all_threads.cu -- the ticket pattern in which every thread stores and fences, and every thread of the last block reads.
// ARRAY in float[512] = ones
// ARRAY partial float[512]
// ARRAY ticket unsigned[1] = zeros
// ARRAY out float[128]
// LAUNCH sum<<<4, 128>>>(in, partial, ticket, out)
__global__ void sum(const float *in, float *partial, unsigned *ticket, float *out) {
    __shared__ bool is_last;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    partial[i] = in[i] * 2;
    __threadfence();
    __syncthreads();
    if (t == 0)
        is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (is_last) {
        __threadfence();
        float total = 0;
        for (unsigned b = 0; b < gridDim.x; ++b)
            total += partial[b * blockDim.x + t];
        out[t] = total;
    }
}
