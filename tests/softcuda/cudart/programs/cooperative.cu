// cooperative.cu -- a grid that synchronises, dynamic shared memory, and occupancy.
#include "program.h"

#include <cooperative_groups.h>

__global__ void reverse(int *values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int value = values[n - 1 - i];
    cooperative_groups::this_grid().sync();
    values[i] = value;
}

__global__ void rotate(int *values) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = shared[(threadIdx.x + 1) % blockDim.x];
}

int main() {
    const int n = 256;
    int *values;
    CUDA(cudaMallocManaged(&values, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        values[i] = i;
    int size = n;
    void *arguments[] = {&values, &size};
    CUDA(cudaLaunchCooperativeKernel(reverse, dim3(4), dim3(64), arguments, 0, 0));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK(values[i] == n - 1 - i);
    CUDA(cudaFuncSetAttribute(rotate, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096));
    rotate<<<1, n, n * sizeof(int)>>>(values);
    CUDA(cudaDeviceSynchronize());
    CHECK(values[0] == n - 2 && values[n - 1] == n - 1);
    int blocks = 0, grid = 0, block = 0;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rotate, 128, 1024));
    CHECK(blocks > 0);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&grid, &block, rotate, 0, 0));
    CHECK(grid > 0 && block > 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = n;
    config.dynamicSmemBytes = n * sizeof(int);
    CUDA(cudaLaunchKernelEx(&config, rotate, values));
    CUDA(cudaDeviceSynchronize());
    CHECK(values[0] == n - 3);
    std::puts("passed");
}
