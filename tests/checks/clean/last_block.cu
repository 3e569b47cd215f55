// last_block.cu -- the last block adds what the others stored: fence, ticket, fence.
// ARRAY in float[1024] = ones
// ARRAY partial float[8]
// ARRAY ticket unsigned[1] = zeros
// ARRAY out float[1]
// LAUNCH sum<<<8, 128>>>(in, partial, ticket, out)
__global__ void sum(const float *in, float *partial, unsigned *ticket, float *out) {
    __shared__ bool is_last;
    __shared__ float block_sum;
    if (threadIdx.x == 0)
        block_sum = 0;
    __syncthreads();
    atomicAdd(&block_sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = block_sum;
        __threadfence();
        is_last = atomicAdd(ticket, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (unsigned i = 0; i < gridDim.x; ++i)
            total += partial[i];
        *out = total;
    }
}
