// variables.cu -- device variables, constants, managed variables, and kernels of templates.
#include "program.h"

#include <vector>

__constant__ float scale[2];
__device__ int counter = 3;
__managed__ int total = 5;
static __device__ double hidden[4];

namespace {
__device__ int nameless = 11;
}

template <class T> __global__ void saxpy(int n, T a, const T *x, T *y) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = scale[1] * (a * x[i] + y[i]);
    atomicAdd(&counter, nameless);
    atomicAdd(&total, 1);
    hidden[i % 4] = i % 4;
}

template <class T> void run(float expected) {
    const int n = 1000;
    std::vector<T> x(n, T(2)), y(n, T(1));
    T *dx, *dy;
    CUDA(cudaMalloc(&dx, n * sizeof(T)));
    CUDA(cudaMalloc(&dy, n * sizeof(T)));
    CUDA(cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(dy, y.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    saxpy<<<(n + 127) / 128, 128>>>(n, T(3), dx, dy);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(y.data(), dy, n * sizeof(T), cudaMemcpyDeviceToHost));
    for (T value : y)
        CHECK(value == T(expected));
    CUDA(cudaFree(dx));
    CUDA(cudaFree(dy));
}

int main() {
    CHECK(total == 5);
    total = 100;
    const float half = 0.5F;
    CUDA(cudaMemcpyToSymbol(scale, &half, sizeof half, sizeof half));
    run<float>(3.5F);
    run<double>(3.5F);
    CUDA(cudaDeviceSynchronize());
    CHECK(total == 2100);
    int count = 0;
    CUDA(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    CHECK(count == 3 + 2000 * 11);
    double back[4];
    CUDA(cudaMemcpyFromSymbol(back, hidden, sizeof back));
    CHECK(back[3] == 3);
    void *address = nullptr;
    std::size_t size = 0;
    CUDA(cudaGetSymbolAddress(&address, hidden));
    CUDA(cudaGetSymbolSize(&size, hidden));
    CHECK(size == 32);
    CUDA(cudaMemset(address, 0, size));
    CUDA(cudaMemcpyFromSymbol(back, hidden, sizeof back));
    CHECK(back[3] == 0);
    std::puts("passed");
}
