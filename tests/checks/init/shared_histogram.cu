// shared_histogram.cu -- a histogram in shared memory without its zeros.
// ARRAY values int[256] = iota
// ARRAY bins int[32] = zeros
// LAUNCH histogram<<<1, 256>>>(values, bins)
__global__ void histogram(const int *values, int *bins) {
    __shared__ int count[32];
    int t = threadIdx.x;
    atomicAdd(&count[values[t] % 32], 1); // FINDS init uninitialized
    __syncthreads();
    if (t < 32)
        atomicAdd(&bins[t], count[t]); // MAY init uninitialized
}
