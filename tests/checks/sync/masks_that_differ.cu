// masks_that_differ.cu -- lanes of one shuffle pass different masks.
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
__global__ void swap(int *data) {
    int lane = threadIdx.x;
    unsigned mask = lane < 16 ? 0x0000ffff : 0xffffffff;
    data[lane] = __shfl_xor_sync(mask, data[lane], 1); // FINDS sync wrong-mask
}
