// misaligned_float4.cu -- reads four floats at once, from an address that is not a multiple of 16.
// ARRAY in float[132] = iota
// ARRAY out float[128]
// LAUNCH copy<<<1, 32>>>(in, out)
__global__ void copy(const float *in, float *out) {
    const float4 *quads = reinterpret_cast<const float4 *>(in + 1);
    float4 *results = reinterpret_cast<float4 *>(out);
    results[threadIdx.x] = quads[threadIdx.x]; // FINDS mem misaligned
}
