// shared_tile_partly_written.cu -- the last block's threads beyond the end write nothing to the tile, and all elements are read.
// ARRAY in float[100] = iota
// ARRAY out float[2]
// LAUNCH sums<<<2, 64>>>(in, out, 100)
__global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        tile[threadIdx.x] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int k = 0; k < 64; ++k)
            sum += tile[k]; // FINDS init uninitialized
        out[blockIdx.x] = sum;
    }
}
