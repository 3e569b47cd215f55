// flag_of_one_block.cu -- a flag between two warps of one block, for which the block's fence is enough.
// ARRAY out int[1]
// LAUNCH hand_over<<<1, 64>>>(out)
__global__ void hand_over(int *out) {
    __shared__ int data;
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 42;
        __threadfence_block();
        flag = 1;
    }
    if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        *out = data;
    }
}
