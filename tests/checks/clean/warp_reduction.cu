// warp_reduction.cu -- the last steps of a sum in one warp, with __syncwarp() between loads and stores.
// ARRAY in float[64] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 32>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ float partial[64];
    int lane = threadIdx.x;
    partial[lane] = in[lane];
    partial[lane + 32] = in[lane + 32];
    __syncwarp();
    for (int step = 32; step > 0; step /= 2) {
        float other = lane < step ? partial[lane + step] : 0;
        __syncwarp();
        if (lane < step)
            partial[lane] += other;
        __syncwarp();
    }
    if (lane == 0)
        *out = partial[0];
}
