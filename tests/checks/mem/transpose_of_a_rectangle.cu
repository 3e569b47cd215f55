// transpose_of_a_rectangle.cu -- transposes 64 x 16 elements with the bounds check of a square.
// ARRAY in float[1024] = iota
// ARRAY out float[1024]
// LAUNCH transpose<<<(4, 4), (16, 16)>>>(in, out, 64, 16)
__global__ void transpose(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < width)
        out[x * height + y] = in[y * width + x]; // FINDS mem out-of-bounds
}
