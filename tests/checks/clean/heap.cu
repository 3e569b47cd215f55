// heap.cu -- malloc() and free() in a kernel; the memory is cleared, and malloc()'s result is tested.
// ARRAY in int[32] = iota
// ARRAY out int[32]
// LAUNCH count<<<1, 32>>>(in, out, 16)
__global__ void count(const int *in, int *out, int n) {
    int *bins = (int *)malloc(n * sizeof(int));
    if (!bins) {
        out[threadIdx.x] = -1;
        return;
    }
    memset(bins, 0, n * sizeof(int));
    for (int i = 0; i < 32; ++i)
        bins[in[i] % n]++;
    out[threadIdx.x] = bins[threadIdx.x % n];
    free(bins);
}
