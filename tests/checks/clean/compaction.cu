// compaction.cu -- the threads of a block take indices of the output from an atomic counter.
// ARRAY in int[64] = iota
// ARRAY out int[64] = zeros
// LAUNCH keep_even<<<1, 64>>>(in, out)
__global__ void keep_even(const int *in, int *out) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0)
        count = 0;
    __syncthreads();
    if (in[t] % 2 == 0)
        out[atomicAdd(&count, 1)] = in[t];
}
