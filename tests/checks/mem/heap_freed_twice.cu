// heap_freed_twice.cu -- two functions that both free a kernel's memory.
// ARRAY out int[32]
// LAUNCH work<<<1, 32>>>(out, 4)
__device__ int sum_and_free(int *buffer, int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i)
        sum += buffer[i];
    free(buffer);
    return sum;
}
__global__ void work(int *out, int n) {
    int *buffer = (int *)malloc(n * sizeof(int));
    for (int i = 0; i < n; ++i)
        buffer[i] = threadIdx.x + i;
    out[threadIdx.x] = sum_and_free(buffer, n);
    free(buffer); // FINDS mem double-free
}
