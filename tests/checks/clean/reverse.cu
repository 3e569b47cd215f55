// reverse.cu -- reverses a block's elements through shared memory.
// ARRAY data int[256] = iota
// LAUNCH reverse<<<1, 256>>>(data)
__global__ void reverse(int *data) {
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = data[t];
    __syncthreads();
    data[t] = tile[255 - t];
}
