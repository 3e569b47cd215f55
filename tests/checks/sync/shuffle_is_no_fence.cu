// shuffle_is_no_fence.cu -- a vote is between a store and another lane's load, but votes do not order memory.
// ARRAY data int[32] = iota
// LAUNCH swap<<<1, 32>>>(data)
__global__ void swap(int *data) {
    __shared__ int buffer[32];
    int lane = threadIdx.x;
    buffer[lane] = data[lane]; // FINDS sync missing-syncwarp
    int any = __any_sync(0xffffffff, data[lane] > 30);
    data[lane] = buffer[lane ^ 2] + any; // FINDS sync missing-syncwarp
}
