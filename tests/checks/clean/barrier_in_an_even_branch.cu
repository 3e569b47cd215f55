// barrier_in_an_even_branch.cu -- barriers in a branch and a loop whose conditions are equal in all threads.
// ARRAY data int[128] = iota
// LAUNCH work<<<2, 64>>>(data, 3)
__global__ void work(int *data, int turns) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    int *mine = data + blockIdx.x * 64;
    if (blockIdx.x == 1) {
        for (int i = 0; i < turns; ++i) {
            tile[t] = mine[t];
            __syncthreads();
            mine[t] = tile[63 - t] + i;
            __syncthreads();
        }
    }
}
