// before_the_first.cu -- a difference from the left neighbour, which the first element does not have.
// ARRAY in float[256] = iota
// ARRAY out float[256]
// LAUNCH difference<<<1, 256>>>(in, out)
__global__ void difference(const float *in, float *out) {
    int i = threadIdx.x;
    out[i] = in[i] - in[i - 1]; // FINDS mem out-of-bounds
}
