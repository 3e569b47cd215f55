// linked_units.cu -- a kernel that calls a function of another translation unit (-rdc=true).
#include "program.h"

extern __device__ int twice(int);
extern __device__ int shared_counter;

__global__ void run(int *out) { *out = twice(21) + shared_counter; }

int main() {
    int *out;
    CUDA(cudaMallocManaged(&out, 4));
    const int one = 1;
    CUDA(cudaMemcpyToSymbol(shared_counter, &one, 4));
    run<<<1, 1>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 43);
    std::puts("passed");
}
