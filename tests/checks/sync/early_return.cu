// early_return.cu -- threads past the end return before the barrier.
// ARRAY in float[100] = ones
// ARRAY out float[1] = zeros
// LAUNCH sum<<<1, 128>>>(in, out, 100)
__global__ void sum(const float *in, float *out, int n) {
    __shared__ float partial[128];
    int t = threadIdx.x;
    partial[t] = 0;
    if (t >= n)
        return;
    partial[t] = in[t];
    __syncthreads(); // FINDS sync divergent-barrier
    if (t == 0) {
        float total = 0;
        for (int i = 0; i < n; ++i)
            total += partial[i];
        *out = total;
    }
}
