// rows_and_columns.cu -- an image of 48 x 20 pixels, indexed with the width instead of the height.
// ARRAY image int[960] = zeros
// LAUNCH paint<<<(3, 2), (16, 16)>>>(image, 48, 20)
__global__ void paint(int *image, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        image[x * width + y] = x + y; // FINDS mem out-of-bounds
}
