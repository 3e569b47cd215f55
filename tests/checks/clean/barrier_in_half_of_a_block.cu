// barrier_in_half_of_a_block.cu -- a barrier that half of the warps skip: they have ended, which is legal since sm_70.
// ARRAY data int[256] = iota
// LAUNCH fold<<<1, 256>>>(data)
__global__ void fold(int *data) {
    int t = threadIdx.x;
    if (t < 128) {
        data[t] += data[t + 128];
        __syncthreads();
        if (t < 64)
            data[t] += data[t + 64];
    }
}
