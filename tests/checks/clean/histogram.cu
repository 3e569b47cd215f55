// histogram.cu -- a histogram in shared memory, added to one in global memory.
// ARRAY values int[512] = iota
// ARRAY bins int[64] = zeros
// LAUNCH histogram<<<2, 256>>>(values, bins)
__global__ void histogram(const int *values, int *bins) {
    __shared__ int count[64];
    int t = threadIdx.x;
    if (t < 64)
        count[t] = 0;
    __syncthreads();
    atomicAdd(&count[values[blockIdx.x * blockDim.x + t] % 64], 1);
    __syncthreads();
    if (t < 64)
        atomicAdd(&bins[t], count[t]);
}
