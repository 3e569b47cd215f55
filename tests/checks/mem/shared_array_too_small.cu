// shared_array_too_small.cu -- a block of 256 threads, and an array in shared memory for 128.
// ARRAY data int[256] = iota
// LAUNCH rotate<<<1, 256>>>(data)
__global__ void rotate(int *data) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = data[t]; // FINDS mem out-of-bounds #write
    __syncthreads();
    data[t] = tile[(t + 1) % 256]; // FINDS mem out-of-bounds #read
}
