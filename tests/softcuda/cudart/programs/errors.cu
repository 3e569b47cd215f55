// errors.cu -- errors of launches, errors of running kernels, and the state after a reset.
#include "program.h"

__global__ void store(int *to, int value) { *to = value; }

int main() {
    int *memory;
    CUDA(cudaMalloc(&memory, 4));
    store<<<1, 5000>>>(memory, 1);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);
    store<<<1, 1>>>(memory, 1);
    CUDA(cudaDeviceSynchronize());
    store<<<1, 1>>>((int *)0x10, 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(&memory, 4) == cudaErrorIllegalAddress);
    CUDA(cudaDeviceReset());
    CHECK(cudaGetLastError() == cudaSuccess);
    CUDA(cudaMalloc(&memory, 4));
    store<<<1, 1>>>(memory, 9);
    int back = 0;
    CUDA(cudaMemcpy(&back, memory, 4, cudaMemcpyDeviceToHost));
    CHECK(back == 9);
    std::puts("passed");
}
