// maximum_of_nothing.cu -- an atomic maximum over an output that was not set to the smallest number.
// ARRAY in int[64] = iota
// ARRAY best int[4]
// LAUNCH maximum<<<4, 16>>>(in, best)
__global__ void maximum(const int *in, int *best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(&best[blockIdx.x], in[i]); // FINDS init uninitialized
}
