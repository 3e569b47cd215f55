// barrier_in_both_branches.cu -- both branches have a barrier, but they are different barriers.
// ARRAY data int[64] = iota
// LAUNCH exchange<<<1, 64>>>(data)
__global__ void exchange(int *data) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    if (t % 32 < 16) {
        tile[t] = data[t] * 2;
        __syncthreads(); // FINDS sync divergent-barrier
        data[t] = tile[t + 16];
    } else {
        tile[t] = data[t] * 3;
        __syncthreads(); // FINDS sync divergent-barrier
        data[t] = tile[t - 16];
    }
}
