// main.cu -- runs all kernels once under Nsight Compute: nvcc main.cu, ncu a.out.
#include "kernels.cu"

#include <cstdio>

int main() {
    constexpr size_t kBytes = 4 << 20;
    float *in = nullptr, *out = nullptr;
    if (cudaMalloc(&in, kBytes) != cudaSuccess || cudaMalloc(&out, kBytes) != cudaSuccess)
        return 1;
    cudaMemset(in, 0, kBytes);
#define LAUNCH(name, blocks, threads) name<<<blocks, threads>>>(in, out, 100);
#include "launches.def"
#undef LAUNCH
    const cudaError_t result = cudaDeviceSynchronize();
    std::printf("%s\n", cudaGetErrorString(result));
    return result == cudaSuccess ? 0 : 1;
}
