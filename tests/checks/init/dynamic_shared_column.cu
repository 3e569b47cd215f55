// dynamic_shared_column.cu -- a dynamic tile of 17 columns, of which the kernel writes 16.
// ARRAY in float[256] = iota
// ARRAY out float[16]
// LAUNCH sums<<<1, (16, 16), 1088>>>(in, out)
__global__ void sums(const float *in, float *out) {
    extern __shared__ float tile[];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y * 17 + x] = in[y * 16 + x];
    __syncthreads();
    if (y == 0) {
        float sum = 0;
        for (int i = 0; i < 17; ++i)
            sum += tile[x * 17 + i]; // FINDS init uninitialized
        out[x] = sum;
    }
}
