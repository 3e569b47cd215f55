// double_buffer.cu -- two alternating buffers without a barrier in the loop.
// ARRAY in float[1024] = iota
// ARRAY out float[128]
// LAUNCH sums<<<1, 128>>>(in, out, 8)
__global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float buffer[2][128];
    int t = threadIdx.x;
    float sum = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles)
            buffer[(k + 1) & 1][t] = in[(k + 1) * 128 + t]; // FINDS race read-after-write
        sum += buffer[k & 1][127 - t]; // FINDS race read-after-write
    }
    out[t] = sum;
}
