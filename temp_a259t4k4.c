#define grid_size_x 1
#define grid_size_y 1
#define grid_size_z 1
#define block_size_x 64
#define block_size_y 16
#define block_size_z 1
#define tile_size_x 2
#define tile_size_y 4
#define kernel_tuner 1
#line 1

// Each block makes a square of (block_size_x * tile_size_x) columns, block_size_x rows at a time.
__global__ void matmul(float *c, const float *a, const float *b, int n) {
    __shared__ float left[block_size_y * tile_size_y][block_size_x];
    __shared__ float right[block_size_x][block_size_x * tile_size_x];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * block_size_x * tile_size_x + tx;
    int y = blockIdx.y * block_size_y * tile_size_y + ty;
    float sum[tile_size_y][tile_size_x] = {};
    for (int k = 0; k < n; k += block_size_x) {
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < tile_size_y; ++i) {
            left[ty + i * block_size_y][tx] = a[(y + i * block_size_y) * n + k + tx];
            #pragma unroll
            for (int j = 0; j < tile_size_x; ++j)
                right[ty + i * block_size_y][tx + j * block_size_x] =
                    b[(k + ty + i * block_size_y) * n + x + j * block_size_x];
        }
        __syncthreads();
        #pragma unroll
        for (int m = 0; m < block_size_x; ++m)
            #pragma unroll
            for (int i = 0; i < tile_size_y; ++i)
                #pragma unroll
                for (int j = 0; j < tile_size_x; ++j)
                    sum[i][j] += left[ty + i * block_size_y][m] * right[m][tx + j * block_size_x];
    }
    for (int i = 0; i < tile_size_y; ++i)
        for (int j = 0; j < tile_size_x; ++j)
            c[(y + i * block_size_y) * n + x + j * block_size_x] = sum[i][j];
}