// quads.cu -- reads and writes four floats at once, aligned and within bounds.
// ARRAY in float4[25] = iota
// ARRAY out float4[25]
// LAUNCH twice<<<1, 32>>>(in, out, 25)
__global__ void twice(const float4 *in, float4 *out, int n) {
    int t = threadIdx.x;
    if (t < n) {
        float4 quad = in[t];
        out[t] = make_float4(quad.x * 2, quad.y * 2, quad.z * 2, quad.w * 2);
    }
}
