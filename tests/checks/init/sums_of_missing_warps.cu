// sums_of_missing_warps.cu -- a block of four warps, which reads 32 sums.
// ARRAY in float[128] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 128>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ float sums[32];
    int t = threadIdx.x;
    float value = in[t];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    if (t % 32 == 0)
        sums[t / 32] = value;
    __syncthreads();
    if (t < 32) {
        float total = sums[t]; // FINDS init uninitialized
        for (int step = 16; step > 0; step /= 2)
            total += __shfl_down_sync(0xffffffff, total, step);
        if (t == 0)
            *out = total;
    }
}
