// sums_of_warps.cu -- each warp stores its sum, and after a barrier the first warp adds them.
// ARRAY in float[256] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 256>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ float sums[8];
    int t = threadIdx.x;
    float value = in[t];
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    if (t % 32 == 0)
        sums[t / 32] = value;
    __syncthreads();
    if (t < 8) {
        float total = sums[t];
        for (int step = 4; step > 0; step /= 2)
            total += __shfl_down_sync(0xff, total, step);
        if (t == 0)
            *out = total;
    }
}
