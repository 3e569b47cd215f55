// break_before_the_barrier.cu -- a loop that some threads leave before its barrier.
// ARRAY in int[64] = iota
// ARRAY out int[64] = zeros
// LAUNCH search<<<1, 64>>>(in, out)
__global__ void search(const int *in, int *out) {
    int t = threadIdx.x;
    for (int i = 0; i < 64; ++i) {
        if (in[i] == t)
            break;
        out[t] = i;
        __syncthreads(); // FINDS sync divergent-barrier
    }
}
