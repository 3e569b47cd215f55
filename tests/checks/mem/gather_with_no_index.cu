// gather_with_no_index.cu -- a gather whose table of indices marks missing entries with -1.
// ARRAY indices int[64] = -1
// ARRAY in float[64] = iota
// ARRAY out float[64]
// LAUNCH gather<<<1, 64>>>(indices, in, out)
__global__ void gather(const int *indices, const float *in, float *out) {
    int i = threadIdx.x;
    out[i] = in[indices[i]]; // FINDS mem out-of-bounds
}
