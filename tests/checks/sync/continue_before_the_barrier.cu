// continue_before_the_barrier.cu -- a loop in which some threads skip the barrier.
// ARRAY out int[64] = zeros
// LAUNCH work<<<1, 64>>>(out)
__global__ void work(int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) {
        tile[t] = t * i;
        if ((t + i) % 4 == 0)
            continue;
        __syncthreads(); // FINDS sync divergent-barrier
        out[t] += tile[63 - t];
    }
}
