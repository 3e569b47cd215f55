// heap_after_free.cu -- a kernel uses memory that it has freed.
// ARRAY out int[32]
// LAUNCH work<<<1, 32>>>(out, 4)
__global__ void work(int *out, int n) {
    int *buffer = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; ++i)
        buffer[i] = threadIdx.x + i;
    free(buffer);
    out[threadIdx.x] = buffer[n - 1]; // FINDS mem use-after-free
}
