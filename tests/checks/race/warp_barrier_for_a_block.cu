// warp_barrier_for_a_block.cu -- __syncwarp() although two warps exchange values.
// ARRAY data int[64] = iota
// LAUNCH swap<<<1, 64>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[64];
    int t = threadIdx.x;
    buffer[t] = data[t]; // FINDS race read-after-write
    __syncwarp();
    data[t] = buffer[t ^ 32]; // FINDS race read-after-write
}
