// work_queue.cu -- blocks take work items from a counter until there are none.
// ARRAY next int[1] = zeros
// ARRAY in int[64] = iota
// ARRAY out int[64]
// LAUNCH work<<<4, 32>>>(next, in, out, 64)
__global__ void work(int *next, const int *in, int *out, int n) {
    __shared__ int item;
    for (;;) {
        if (threadIdx.x == 0)
            item = atomicAdd(next, 8);
        __syncthreads();
        int mine = item;
        __syncthreads();
        if (mine >= n)
            return;
        if (threadIdx.x < 8)
            out[mine + threadIdx.x] = in[mine + threadIdx.x] * 2;
    }
}
