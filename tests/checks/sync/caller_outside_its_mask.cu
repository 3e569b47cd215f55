// caller_outside_its_mask.cu -- lanes of the upper half pass the lower half's mask.
// ARRAY data int[32] = iota
// LAUNCH wait<<<1, 32>>>(data)
__global__ void wait(int *data) {
    __shared__ int tile[32];
    int lane = threadIdx.x;
    tile[lane] = data[lane]; // MAY sync missing-syncwarp
    __syncwarp(0x0000ffff); // FINDS sync wrong-mask
    data[lane] = tile[lane ^ 1]; // MAY sync missing-syncwarp
}
