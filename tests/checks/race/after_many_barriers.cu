// after_many_barriers.cu -- a barrier is missing after more than four million synchronisations.
// ARRAY out int[64]
// LAUNCH work<<<1, 64>>>(out, 2200000)
__global__ void work(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    s[t] = t;
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        sum += s[(t + i) & 63];
        __threadfence_block();
        __syncthreads();
    }
    s[t] = sum;         // FINDS race read-after-write
    out[t] = s[t ^ 33]; // FINDS race read-after-write
}
