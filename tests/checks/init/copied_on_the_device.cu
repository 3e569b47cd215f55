// copied_on_the_device.cu -- unwritten memory is copied, and a kernel reads the copy.
// ARRAY source float[64]
// ARRAY target float[64]
// ARRAY out float[64]
// COPY target <- source, 64
// LAUNCH twice<<<1, 64>>>(target, out)
__global__ void twice(const float *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x] * 2; // FINDS init uninitialized
}
