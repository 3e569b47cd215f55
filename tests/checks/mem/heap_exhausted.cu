// heap_exhausted.cu -- malloc() in a kernel fails, but the kernel uses its result.
// ARRAY out int[32] = zeros
// LAUNCH work<<<1, 32>>>(out, 1099511627776)
__global__ void work(int *out, size_t bytes) {
    int *buffer = (int *)malloc(bytes);
    buffer[threadIdx.x] = threadIdx.x; // FINDS mem null
    out[threadIdx.x] = buffer[31 - threadIdx.x]; // MAY mem null
    free(buffer);
}
