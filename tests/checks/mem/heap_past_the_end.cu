// heap_past_the_end.cu -- a kernel allocates n bytes for n numbers.
// ARRAY out int[32]
// LAUNCH work<<<1, 32>>>(out, 64)
__global__ void work(int *out, int n) {
    int *buffer = (int *)malloc(n);
    int sum = 0;
    for (int i = 0; i < n; ++i)
        buffer[i] = threadIdx.x + i; // FINDS mem out-of-bounds #write
    for (int i = 0; i < n; ++i)
        sum += buffer[i]; // FINDS mem out-of-bounds #read
    out[threadIdx.x] = sum;
    free(buffer);
}
