// warp_exchange.cu -- lanes exchange values in shared memory and rely on lock-step.
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[32];
    int lane = threadIdx.x;
    buffer[lane] = data[lane]; // FINDS sync missing-syncwarp
    data[lane] = buffer[lane ^ 1]; // FINDS sync missing-syncwarp
}
