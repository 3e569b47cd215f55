// image.cu -- an image of 48 x 20 pixels with a pitch, and a stencil that guards its borders.
// ARRAY image float[1280]
// ARRAY out float[1280]
// LAUNCH paint<<<(4, 2), (16, 16)>>>(image, 48, 20, 256)
// LAUNCH smooth<<<(4, 2), (16, 16)>>>(image, out, 48, 20, 256)
__global__ void paint(char *image, int width, int height, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        reinterpret_cast<float *>(image + y * pitch)[x] = x + y;
}
__global__ void smooth(const char *image, char *out, int width, int height, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const float *row = reinterpret_cast<const float *>(image + y * pitch);
    float left = x > 0 ? row[x - 1] : 0, right = x + 1 < width ? row[x + 1] : 0;
    reinterpret_cast<float *>(out + y * pitch)[x] = (left + row[x] + right) / 3;
}
