// histogram_without_atomics.cu -- counts values with plain increments in global memory.
// ARRAY values int[512] = iota
// ARRAY bins int[16] = zeros
// LAUNCH histogram<<<2, 256>>>(values, bins, 512)
__global__ void histogram(const int *values, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        bins[values[i] % 16]++; // FINDS race read-after-write|write-after-write
}
