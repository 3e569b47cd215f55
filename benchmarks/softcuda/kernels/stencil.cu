// stencil.cu -- a step of Jacobi's method on the inner points of a grid: 5 points, 2-D blocks.
__global__ void stencil(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
        int i = y * width + x;
        out[i] = 0.5f * in[i] +
                 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
    }
}
