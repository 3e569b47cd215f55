// guard_without_return.cu -- threads past the end skip the work and reach the barrier.
// ARRAY in float[100] = ones
// ARRAY out float[1]
// LAUNCH sum<<<1, 128>>>(in, out, 100)
__global__ void sum(const float *in, float *out, int n) {
    __shared__ float partial[128];
    int t = threadIdx.x;
    partial[t] = t < n ? in[t] : 0;
    int count = __syncthreads_count(t < n);
    if (t == 0) {
        float total = 0;
        for (int i = 0; i < count; ++i)
            total += partial[i];
        *out = total;
    }
}
