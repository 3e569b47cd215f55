// argmax.cu -- a maximum and its index in one 64-bit atomic.
// ARRAY in int[64] = iota
// ARRAY best long long[1] = zeros
// ARRAY index int[1]
// LAUNCH find<<<2, 32>>>(in, best)
// LAUNCH store<<<1, 1>>>(best, index)
__global__ void find(const int *in, unsigned long long *best) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMax(best, (unsigned long long)in[i] << 32 | i);
}
__global__ void store(const unsigned long long *best, int *index) {
    *index = (int)*best;
}
