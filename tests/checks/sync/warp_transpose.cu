// warp_transpose.cu -- a warp transposes its 32 x 4 values through shared memory.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH transpose<<<1, 32>>>(in, out)
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[128];
    int lane = threadIdx.x;
    for (int i = 0; i < 4; ++i)
        tile[i * 32 + lane] = in[i * 32 + lane]; // FINDS sync missing-syncwarp
    for (int i = 0; i < 4; ++i)
        out[i * 32 + lane] = tile[lane * 4 + i]; // FINDS sync missing-syncwarp
}
