// matrix_product.cu -- a product of matrices in tiles.
// ARRAY a float[1024] = ones
// ARRAY b float[1024] = ones
// ARRAY c float[1024]
// LAUNCH multiply<<<(2, 2), (16, 16)>>>(a, b, c, 32)
__global__ void multiply(const float *a, const float *b, float *c, int n) {
    __shared__ float rows[16][16], columns[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        rows[y][x] = a[row * n + k + x];
        columns[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += rows[y][i] * columns[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
