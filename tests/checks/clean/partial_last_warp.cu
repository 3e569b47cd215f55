// partial_last_warp.cu -- a block of 48 threads: the second warp has 16 lanes, and its mask has these.
// ARRAY data int[48] = iota
// LAUNCH sum<<<1, 48>>>(data)
__global__ void sum(int *data) {
    int t = threadIdx.x;
    unsigned mask = t < 32 ? 0xffffffff : 0x0000ffff;
    int value = data[t];
    for (int step = 8; step > 0; step /= 2)
        value += __shfl_xor_sync(mask, value, step);
    __syncthreads();
    data[t] = value;
}
