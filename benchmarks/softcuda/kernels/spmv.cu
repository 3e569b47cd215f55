// spmv.cu -- a sparse matrix (CSR) times a vector: a thread for each row, or a warp for each row.
__global__ void spmv_thread(const int *starts, const int *columns, const float *values,
                            const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k)
        sum += values[k] * x[columns[k]];
    y[row] = sum;
}

__global__ void spmv_warp(const int *starts, const int *columns, const float *values,
                          const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int offset = 16; offset > 0; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[row] = sum;
}
