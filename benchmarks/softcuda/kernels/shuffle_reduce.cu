// shuffle_reduce.cu -- sums of pieces of 2048: a strided loop, shuffles in each warp, and shuffles
// again over the warps' sums.
__device__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset >>= 1)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void shuffle_reduce(const float *x, float *sums)
{
    __shared__ float part[8];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const float *mine = x + (size_t)blockIdx.x * 2048;
    float sum = 0;
    for (int i = tid; i < 2048; i += 256)
        sum += mine[i];
    sum = warp_sum(sum);
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < 8 ? part[lane] : 0.0f);
        if (lane == 0)
            sums[blockIdx.x] = sum;
    }
}
