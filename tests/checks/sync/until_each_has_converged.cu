// until_each_has_converged.cu -- each thread iterates until its own value is small, with a barrier in the loop.
// ARRAY values float[64] = iota
// LAUNCH halve<<<1, 64>>>(values)
__global__ void halve(float *values) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float value = values[t];
    while (value > 1) {
        tile[t] = value;
        __syncthreads(); // FINDS sync divergent-barrier
        value = tile[t] / 2;
    }
    values[t] = value;
}
