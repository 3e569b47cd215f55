// stencil_right_border.cu -- a stencil that guards its left border only.
// ARRAY in float[512] = iota
// ARRAY out float[512]
// LAUNCH smooth<<<2, 256>>>(in, out, 512)
__global__ void smooth(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float left = i > 0 ? in[i - 1] : 0;
    float right = in[i + 1]; // FINDS mem out-of-bounds
    out[i] = (left + in[i] + right) / 3;
}
