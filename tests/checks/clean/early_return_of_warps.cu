// early_return_of_warps.cu -- whole warps return before the barrier, which is legal since sm_70.
// ARRAY in float[64] = ones
// ARRAY out float[64] = zeros
// LAUNCH reverse<<<1, 128>>>(in, out, 64)
__global__ void reverse(const float *in, float *out, int n) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    if (t >= n)
        return;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[n - 1 - t];
}
