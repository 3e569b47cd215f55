// histogram_cleared_late.cu -- clears a histogram in shared memory, and counts before all threads have cleared.
// ARRAY values int[256] = iota
// ARRAY bins int[64] = zeros
// LAUNCH histogram<<<1, 256>>>(values, bins)
__global__ void histogram(const int *values, int *bins) {
    __shared__ int count[64];
    int t = threadIdx.x;
    if (t < 64)
        count[t] = 0; // FINDS race atomic-and-plain
    atomicAdd(&count[(values[t] * 7 + 3) % 64], 1); // FINDS race atomic-and-plain
    __syncthreads();
    if (t < 64)
        bins[t] = count[t];
}
