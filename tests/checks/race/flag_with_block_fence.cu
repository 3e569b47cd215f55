// flag_with_block_fence.cu -- a flag between two blocks, with a fence of block scope.
// ARRAY data int[1] = zeros
// ARRAY flag int[1] = zeros
// ARRAY out int[1]
// LAUNCH hand_over<<<2, 1>>>(data, flag, out)
__global__ void hand_over(int *data, volatile int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42; // FINDS race read-after-write
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence_block();
        *out = *data; // FINDS race read-after-write
    }
}
