// unsigned_below_zero.cu -- an unsigned index that goes below zero.
// ARRAY in int[64] = iota
// ARRAY out int[64]
// LAUNCH shift<<<1, 64>>>(in, out)
__global__ void shift(const int *in, int *out) {
    unsigned i = threadIdx.x;
    unsigned left = i - 1;
    out[i] = in[left]; // FINDS mem out-of-bounds
}
