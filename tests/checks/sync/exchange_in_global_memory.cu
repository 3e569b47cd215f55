// exchange_in_global_memory.cu -- neighbours of a warp exchange values through global memory.
// ARRAY data int[32] = iota
// ARRAY buffer int[32]
// LAUNCH swap<<<1, 32>>>(data, buffer)
__global__ void swap(int *data, int *buffer) {
    int lane = threadIdx.x;
    buffer[lane] = data[lane] * 2; // FINDS sync missing-syncwarp
    data[lane] = buffer[31 - lane]; // FINDS sync missing-syncwarp
}
