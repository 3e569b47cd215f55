// half_axpy.cu -- float16, two elements for each thread.
#include <cuda_fp16.h>

__global__ void half_axpy(float a, const __half2 *x, __half2 *y, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs)
        y[i] = __hfma2(__float2half2_rn(a), x[i], y[i]);
}
