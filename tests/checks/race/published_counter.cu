// published_counter.cu -- thread 0 takes a block's work item, and all read it without a barrier.
// ARRAY next int[1] = zeros
// ARRAY out int[256] = zeros
// LAUNCH work<<<4, 64>>>(next, out)
__global__ void work(int *next, int *out) {
    __shared__ int item;
    if (threadIdx.x == 0)
        item = atomicAdd(next, 1); // FINDS race read-after-write
    out[blockIdx.x * blockDim.x + threadIdx.x] = item; // FINDS race read-after-write
}
