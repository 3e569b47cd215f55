// histogram_read_early.cu -- reads a histogram in shared memory while others count.
// ARRAY values int[256] = iota
// ARRAY bins int[64] = zeros
// LAUNCH histogram<<<1, 256>>>(values, bins)
__global__ void histogram(const int *values, int *bins) {
    __shared__ int count[64];
    int t = threadIdx.x;
    if (t < 64)
        count[t] = 0;
    __syncthreads();
    atomicAdd(&count[(values[t] * 7 + 3) % 64], 1); // FINDS race atomic-and-plain
    if (t < 64)
        bins[t] = count[t]; // FINDS race atomic-and-plain
}
