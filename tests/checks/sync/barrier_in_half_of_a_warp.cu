// barrier_in_half_of_a_warp.cu -- a barrier for the even threads only.
// ARRAY data int[64] = iota
// LAUNCH even<<<1, 64>>>(data)
__global__ void even(int *data) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = data[t];
    if (t % 2 == 0) {
        __syncthreads(); // FINDS sync divergent-barrier
        data[t] = tile[63 - t];
    }
}
