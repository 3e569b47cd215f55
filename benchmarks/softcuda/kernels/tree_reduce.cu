// tree_reduce.cu -- sums of pieces of 2048: a strided loop, then a tree in shared memory.
__global__ void tree_reduce(const float *x, float *sums)
{
    __shared__ float part[256];
    int tid = threadIdx.x;
    const float *mine = x + (size_t)blockIdx.x * 2048;
    float sum = 0;
    for (int i = tid; i < 2048; i += 256)
        sum += mine[i];
    part[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = part[0];
}
