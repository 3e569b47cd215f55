// volatile_warp_reduction.cu -- the warp reduction of old books: volatile without __syncwarp().
// ARRAY in float[64] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 32>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ volatile float partial[64];
    int lane = threadIdx.x;
    partial[lane] = in[lane];
    partial[lane + 32] = in[lane + 32];
    __syncwarp();
    for (int step = 32; step > 0; step /= 2)
        if (lane < step)
            partial[lane] = partial[lane] + partial[lane + step]; // FINDS sync missing-syncwarp
    if (lane == 0)
        *out = partial[0];
}
