// barrier_of_one_row.cu -- the first row of a two-dimensional block waits alone.
// ARRAY data int[256] = iota
// LAUNCH work<<<1, (16, 16)>>>(data)
__global__ void work(int *data) {
    __shared__ int row[16];
    int x = threadIdx.x, y = threadIdx.y;
    if (y == 0) {
        row[x] = data[x];
        __syncthreads(); // FINDS sync divergent-barrier
    }
    data[y * 16 + x] += row[x];
}
