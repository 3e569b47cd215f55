// reverse_without_barrier.cu -- reverses a block's elements through shared memory, without a barrier.
// ARRAY data int[256] = iota
// LAUNCH reverse<<<1, 256>>>(data)
__global__ void reverse(int *data) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = data[t];       // FINDS race read-after-write
    data[t] = tile[255 - t]; // FINDS race read-after-write
}
