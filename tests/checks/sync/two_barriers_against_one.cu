// two_barriers_against_one.cu -- one branch has two barriers and the other has one.
// ARRAY data int[64] = iota
// LAUNCH work<<<1, 64>>>(data)
__global__ void work(int *data) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = data[t];
    if (t < 32) {
        __syncthreads(); // FINDS sync divergent-barrier
        tile[t] += 1;
        __syncthreads(); // FINDS sync divergent-barrier
    } else {
        __syncthreads(); // FINDS sync divergent-barrier
    }
    data[t] = tile[63 - t];
}
