// total_not_cleared.cu -- adds to a total that was not set to zero.
// ARRAY in float[64] = ones
// ARRAY total float[1]
// LAUNCH sum<<<1, 64>>>(in, total)
__global__ void sum(const float *in, float *total) {
    atomicAdd(total, in[threadIdx.x]); // FINDS init uninitialized
}
