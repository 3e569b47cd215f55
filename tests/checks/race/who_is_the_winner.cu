// who_is_the_winner.cu -- all threads store their number in one variable, and each expects the same one.
// ARRAY in int[64] = iota
// ARRAY out int[64]
// LAUNCH elect<<<1, 64>>>(in, out)
__global__ void elect(const int *in, int *out) {
    __shared__ int winner;
    int t = threadIdx.x;
    if (in[t] > 10)
        winner = t; // FINDS race write-after-write
    __syncthreads();
    out[t] = winner;
}
