// statics.cu -- module variables without an initializer are zero.
// ARRAY out int[64]
// LAUNCH count<<<2, 32>>>(out)
__device__ int counters[64];
__global__ void count(int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    counters[i] += i;
    out[i] = counters[i];
}
