// used_after_free.cu -- a kernel reads an array that the host has freed.
// ARRAY weights float[256] = ones
// ARRAY out float[256]
// FREE weights
// LAUNCH scale<<<1, 256>>>(weights, out)
__global__ void scale(const float *weights, float *out) {
    int i = threadIdx.x;
    out[i] = weights[i] * 2; // FINDS mem use-after-free
}
