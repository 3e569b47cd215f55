// heap_freed_in_the_middle.cu -- free() gets a pointer that was changed.
// ARRAY out int[32]
// LAUNCH work<<<1, 32>>>(out, 4)
__global__ void work(int *out, int n) {
    int *buffer = (int *)malloc(n * sizeof(int));
    int sum = 0;
    for (int i = 0; i < n; ++i)
        *buffer++ = threadIdx.x + i;
    for (int i = 0; i < n; ++i)
        sum += buffer[i - n];
    out[threadIdx.x] = sum;
    free(buffer); // FINDS mem invalid-free
}
