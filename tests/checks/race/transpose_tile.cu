// transpose_tile.cu -- a matrix's transpose through a tile, without a barrier between its two phases.
// ARRAY in float[1024] = iota
// ARRAY out float[1024]
// LAUNCH transpose<<<(2, 2), (16, 16)>>>(in, out, 32)
__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x]; // FINDS race read-after-write
    int column = blockIdx.y * 16 + threadIdx.x;
    int row = blockIdx.x * 16 + threadIdx.y;
    out[row * n + column] = tile[threadIdx.x][threadIdx.y]; // FINDS race read-after-write
}
