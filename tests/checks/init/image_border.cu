// image_border.cu -- a filter writes the inner pixels of an image, and the next one reads its border, too.
// ARRAY image float[256] = iota
// ARRAY smooth float[256]
// ARRAY out float[256]
// LAUNCH filter<<<1, (16, 16)>>>(image, smooth)
// LAUNCH sharpen<<<1, (16, 16)>>>(smooth, out)
__global__ void filter(const float *in, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x > 0 && y > 0 && x < 15 && y < 15)
        out[y * 16 + x] = (in[y * 16 + x - 1] + in[y * 16 + x + 1]) / 2;
}
__global__ void sharpen(const float *in, float *out) {
    int i = threadIdx.y * 16 + threadIdx.x;
    out[i] = in[i] * 2; // FINDS init uninitialized
}
