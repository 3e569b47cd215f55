// reduction_of_an_odd_block.cu -- halves a block of 96 threads to 3, and adds an unwritten element.
// ARRAY in float[96] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 96>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ float partial[128];
    int t = threadIdx.x;
    partial[t] = in[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half)
            partial[t] += partial[t + half]; // FINDS init uninitialized
        __syncthreads();
    }
    if (t == 0)
        *out = partial[0]; // MAY init uninitialized
}
