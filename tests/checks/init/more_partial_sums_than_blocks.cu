// more_partial_sums_than_blocks.cu -- eight blocks store their sums, and sixteen sums are added.
// ARRAY in float[1024] = ones
// ARRAY partial float[16]
// ARRAY out float[1]
// LAUNCH sums<<<8, 128>>>(in, partial)
// LAUNCH add<<<1, 1>>>(partial, out, 16)
__global__ void sums(const float *in, float *partial) {
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    int count = __syncthreads_count(value > 0.5f);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = count;
}
__global__ void add(const float *partial, float *out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += partial[i]; // FINDS init uninitialized
    *out = sum;
}
