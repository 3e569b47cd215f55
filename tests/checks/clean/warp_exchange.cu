// warp_exchange.cu -- lanes exchange values through shared memory with __syncwarp().
// ARRAY data int[64] = iota
// LAUNCH swap<<<1, 64>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[64];
    int t = threadIdx.x;
    buffer[t] = data[t];
    __syncwarp();
    data[t] = buffer[t ^ 1];
}
