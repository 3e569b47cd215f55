// warp_tail_of_a_reduction.cu -- the last two steps of a sum rely on a warp in lock-step.
// ARRAY in float[32] = ones
// ARRAY out float[8] = zeros
// LAUNCH tail<<<1, 32>>>(in, out)
__global__ void tail(const float *in, float *out) {
    __shared__ float partial[32];
    int t = threadIdx.x;
    partial[t] = in[t];
    __syncwarp();
    if (t < 16)
        partial[t] += partial[t + 16]; // FINDS race read-after-write
    if (t < 8)
        partial[t] += partial[t + 8]; // FINDS race read-after-write
    if (t < 8)
        out[t] = partial[t];
}
