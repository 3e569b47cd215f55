// bin_of_the_maximum.cu -- a histogram of 16 bins, whose largest value falls into a seventeenth.
// ARRAY in int[257] = iota
// ARRAY bins int[16] = zeros
// LAUNCH histogram<<<2, 256>>>(in, bins, 257)
__global__ void histogram(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i] / 16], 1); // FINDS mem out-of-bounds
}
