// copied_in_part.cu -- a copy on the device that is a quarter too short.
// ARRAY source float[64] = ones
// ARRAY target float[64]
// ARRAY out float[64]
// COPY target <- source, 48
// LAUNCH twice<<<1, 64>>>(target, out)
__global__ void twice(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x] * 2; // FINDS init uninitialized
}
