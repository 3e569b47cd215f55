// partly_copied.cu -- the host copies 100 of 128 elements, and the kernel uses only these.
// ARRAY in float[128] = first 100 iota
// ARRAY out float[128]
// LAUNCH twice<<<1, 128>>>(in, out, 100)
__global__ void twice(const float *in, float *out, int n) {
    int i = threadIdx.x;
    out[i] = i < n ? in[i] * 2 : 0;
}
