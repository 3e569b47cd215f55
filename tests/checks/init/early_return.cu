// early_return.cu -- threads without work return before they store their zero.
// ARRAY in int[64] = iota
// ARRAY out int[64]
// ARRAY total int[1] = zeros
// LAUNCH square<<<1, 64>>>(in, out)
// LAUNCH sum<<<1, 64>>>(out, total)
__global__ void square(const int *in, int *out) {
    int value = in[threadIdx.x];
    if (value % 8 == 7)
        return;
    out[threadIdx.x] = value * value;
}
__global__ void sum(const int *in, int *total) {
    atomicAdd(total, in[threadIdx.x]); // FINDS init uninitialized
}
