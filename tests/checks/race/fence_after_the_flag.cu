// fence_after_the_flag.cu -- the fence is after the flag's store, where it orders nothing.
// ARRAY data int[32] = zeros
// ARRAY flag int[1] = zeros
// ARRAY out int[32]
// LAUNCH hand_over<<<2, 32>>>(data, flag, out)
__global__ void hand_over(int *data, int *flag, int *out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t * t; // FINDS race read-after-write
        if (t == 0)
            atomicExch(flag, 1);
        __threadfence();
    } else {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
        out[t] = data[31 - t]; // FINDS race read-after-write
    }
}
