// source_outside_of_the_mask.cu -- half of a warp shuffles, but reads a lane of the other half.
// ARRAY data int[32] = iota
// LAUNCH broadcast<<<1, 32>>>(data)
__global__ void broadcast(int *data) {
    int lane = threadIdx.x;
    if (lane < 16)
        data[lane] = __shfl_sync(0x0000ffff, data[lane], 20); // FINDS sync wrong-mask
}
