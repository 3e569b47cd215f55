// warp_exchange.cu -- lanes exchange values through shared memory without __syncwarp().
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[32];
    int lane = threadIdx.x;
    buffer[lane] = data[lane]; // FINDS race read-after-write
    data[lane] = buffer[lane ^ 1]; // FINDS race read-after-write
}
