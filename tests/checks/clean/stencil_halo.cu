// stencil_halo.cu -- a stencil whose tile has its halo written by two threads.
// ARRAY in float[130] = iota
// ARRAY out float[128]
// LAUNCH stencil<<<1, 128>>>(in, out)
__global__ void stencil(const float *in, float *out) {
    __shared__ float tile[130];
    int t = threadIdx.x;
    tile[t + 1] = in[t + 1];
    if (t < 2)
        tile[t * 129] = in[t * 129];
    __syncthreads();
    out[t] = tile[t] + tile[t + 1] + tile[t + 2];
}
