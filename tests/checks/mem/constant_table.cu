// constant_table.cu -- reads past the end of a table in constant memory.
// ARRAY out int[32]
// LAUNCH look_up<<<1, 32>>>(out)
__constant__ int weights[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
__global__ void look_up(int *out) {
    out[threadIdx.x] = weights[threadIdx.x]; // FINDS mem out-of-bounds
}
