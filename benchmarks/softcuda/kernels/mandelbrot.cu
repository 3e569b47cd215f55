// mandelbrot.cu -- escape counts over [-2, 0.6] x [-1.3, 1.3]: loops of different length in a warp.
__global__ void mandelbrot(int *counts, int width, int height, int limit)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    float cx = -2.0f + column * (2.6f / width), cy = -1.3f + row * (2.6f / height);
    float x = 0, y = 0;
    int i = 0;
    while (i < limit && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++i;
    }
    counts[(size_t)row * width + column] = i;
}
