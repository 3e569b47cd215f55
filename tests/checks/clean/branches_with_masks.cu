// branches_with_masks.cu -- both halves of a warp vote and shuffle, each with its own mask.
// ARRAY data int[32] = iota
// LAUNCH vote<<<1, 32>>>(data)
__global__ void vote(int *data) {
    int lane = threadIdx.x;
    int value = data[lane];
    if (lane < 16) {
        value += __shfl_xor_sync(0x0000ffff, value, 8);
        __syncwarp(0x0000ffff);
    } else {
        value = __ballot_sync(0xffff0000, value & 1);
        __syncwarp(0xffff0000);
    }
    data[lane] = value;
}
