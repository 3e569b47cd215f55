// tree_reduction.cu -- a sum as a tree whose loop has no barrier.
// ARRAY in float[256] = ones
// ARRAY out float[1] = zeros
// LAUNCH sum<<<1, 256>>>(in, out)
__global__ void sum(const float *in, float *out) {
    __shared__ float partial[256];
    int t = threadIdx.x;
    partial[t] = in[t];
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half)
            partial[t] += partial[t + half]; // FINDS race read-after-write
    }
    if (t == 0)
        *out = partial[0];
}
