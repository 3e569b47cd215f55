// heap_memory.cu -- memory from malloc() in a kernel is not zero.
// ARRAY in int[32] = iota
// ARRAY out int[32]
// LAUNCH count<<<1, 32>>>(in, out, 16)
__global__ void count(const int *in, int *out, int n) {
    int *bins = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < 32; ++i)
        bins[in[i] % n]++; // FINDS init uninitialized
    out[threadIdx.x] = bins[threadIdx.x % n]; // MAY init uninitialized
    free(bins);
}
