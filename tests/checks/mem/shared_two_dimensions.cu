// shared_two_dimensions.cu -- a tile of 8 rows for a block of 16 rows.
// ARRAY in float[256] = iota
// ARRAY out float[256]
// LAUNCH copy<<<1, (16, 16)>>>(in, out)
__global__ void copy(const float *in, float *out) {
    __shared__ float tile[8][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 16 + x]; // FINDS mem out-of-bounds #write
    __syncthreads();
    out[y * 16 + x] = tile[y][x]; // FINDS mem out-of-bounds #read
}
