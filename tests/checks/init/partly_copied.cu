// partly_copied.cu -- the host copies 100 of 128 elements.
// ARRAY in float[128] = first 100 iota
// ARRAY out float[128]
// LAUNCH twice<<<1, 128>>>(in, out)
__global__ void twice(const float *in, float *out) {
    int i = threadIdx.x;
    out[i] = in[i] * 2; // FINDS init uninitialized
}
