// tail_of_quads.cu -- reads four floats at once from 98 elements.
// ARRAY in float[98] = iota
// ARRAY out float[32]
// LAUNCH sums<<<1, 32>>>(in, out, 98)
__global__ void sums(const float *in, float *out, int n) {
    int t = threadIdx.x;
    if (t * 4 >= n)
        return;
    float4 quad = reinterpret_cast<const float4 *>(in)[t]; // FINDS mem out-of-bounds
    out[t] = quad.x + quad.y + quad.z + quad.w; // MAY mem out-of-bounds
}
