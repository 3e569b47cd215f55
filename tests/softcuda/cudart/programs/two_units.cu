// two_units.cu -- a program of two translation units with a kernel of the same name in each.
#include "program.h"

int run_other(int);

static __device__ int table[2] = {3, 4};

static __global__ void look_up(int *out, int index) { *out = table[index]; }

int main() {
    int *out;
    CUDA(cudaMallocManaged(&out, 4));
    look_up<<<1, 1>>>(out, 1);
    CUDA(cudaDeviceSynchronize());
    CHECK(*out == 4);
    CHECK(run_other(1) == 400);
    std::puts("passed");
}
