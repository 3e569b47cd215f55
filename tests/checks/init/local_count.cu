// local_count.cu -- counts in a thread's local table that was not cleared.
// ARRAY in int[64] = iota
// ARRAY out int[32]
// LAUNCH most<<<1, 32>>>(in, out, 64)
__global__ void most(const int *in, int *out, int n) {
    int count[16];
    for (int i = 0; i < n; ++i)
        if (i < 16 && (in[i] & 1))
            count[in[i] & 15] = 0;
    for (int i = 0; i < n; ++i)
        count[(in[i] + threadIdx.x) & 15]++; // FINDS init uninitialized
    int best = 0;
    for (int i = 0; i < 16; ++i)
        best = max(best, count[i]); // MAY init uninitialized
    out[threadIdx.x] = best;
}
