// column_of_a_volume.cu -- a volume of 8 x 8 x 4, accessed with its depth and height exchanged.
// ARRAY volume float[256] = ones
// ARRAY out float[64]
// LAUNCH columns<<<1, (8, 8)>>>(volume, out, 8, 8)
__global__ void columns(const float *volume, float *out, int width, int depth) {
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int z = 0; z < depth; ++z)
        sum += volume[(z * 8 + y) * width + x]; // FINDS mem out-of-bounds
    out[y * width + x] = sum;
}
