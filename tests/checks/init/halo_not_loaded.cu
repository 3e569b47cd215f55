// halo_not_loaded.cu -- a stencil's tile whose right halo is never loaded.
// ARRAY in float[128] = iota
// ARRAY out float[128]
// LAUNCH stencil<<<1, 128>>>(in, out)
__global__ void stencil(const float *in, float *out) {
    __shared__ float tile[130];
    int t = threadIdx.x;
    tile[t + 1] = in[t];
    if (t == 0)
        tile[0] = in[0];
    __syncthreads();
    float right = tile[t + 2]; // FINDS init uninitialized
    out[t] = tile[t] + tile[t + 1] + right;
}
