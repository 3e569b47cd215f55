// tile_loop_one_barrier.cu -- loads a tile in each round of a loop, with one barrier instead of two.
// ARRAY in float[1024] = iota
// ARRAY out float[128]
// LAUNCH sums<<<1, 128>>>(in, out, 8)
__global__ void sums(const float *in, float *out, int tiles) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        tile[t] = in[k * 128 + t]; // FINDS race write-after-read
        __syncthreads();
        sum += tile[(t + 37) % 128]; // FINDS race write-after-read
    }
    out[t] = sum;
}
