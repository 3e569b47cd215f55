// empty_mask.cu -- a mask that a computation makes empty.
// ARRAY data int[32] = iota
// LAUNCH wait<<<1, 32>>>(data, 0)
__global__ void wait(int *data, int count) {
    int lane = threadIdx.x;
    unsigned mask = (1u << count) - 1;
    int sum = __reduce_add_sync(mask, data[lane]); // FINDS sync wrong-mask
    data[lane] = sum;
}
