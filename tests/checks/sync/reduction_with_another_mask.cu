// reduction_with_another_mask.cu -- a warp's sum with the mask of eight lanes.
// ARRAY data unsigned[32] = iota
// LAUNCH sum<<<1, 32>>>(data)
__global__ void sum(unsigned *data) {
    int lane = threadIdx.x;
    data[lane] = __reduce_add_sync(0xff, data[lane]); // FINDS sync wrong-mask
}
