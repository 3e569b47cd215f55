// histogram.cu -- 256 bins of bytes: atomics in shared memory, then one add for each bin.
__global__ void histogram(const unsigned char *data, unsigned int *bins, int n)
{
    __shared__ unsigned int mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
