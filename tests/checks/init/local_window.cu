// local_window.cu -- a window in a thread's local memory that is filled in part, but summed up completely.
// ARRAY in float[64] = iota
// ARRAY out float[32]
// LAUNCH filter<<<1, 32>>>(in, out, 5)
__global__ void filter(const float *in, float *out, int count) {
    float window[8];
    int t = threadIdx.x;
    for (int i = 0; i < count; ++i)
        window[(i * 3) % 8] = in[t + i];
    float sum = 0;
    for (int i = 0; i < 8; ++i)
        sum += window[(t + i) % 8]; // FINDS init uninitialized
    out[t] = sum;
}
