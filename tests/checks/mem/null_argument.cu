// null_argument.cu -- an optional array that the caller omits, and that the kernel does not test.
// ARRAY in float[64] = iota
// ARRAY out float[64]
// LAUNCH weigh<<<1, 64>>>(in, 0, out)
__global__ void weigh(const float *in, const float *weights, float *out) {
    int i = threadIdx.x;
    out[i] = in[i] * weights[i]; // FINDS mem null
}
