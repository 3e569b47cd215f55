// flag.cu -- a block passes data to another through a volatile flag, with fences on both sides.
// ARRAY data int[1] = zeros
// ARRAY flag int[1] = zeros
// ARRAY out int[1]
// LAUNCH hand_over<<<2, 1>>>(data, flag, out)
__global__ void hand_over(int *data, volatile int *flag, int *out) {
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        __threadfence();
        *out = *data;
    }
}
