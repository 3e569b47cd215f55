// heat_3d.cu -- a step of the heat equation on the inner points of a cube: 7 points, 2-D blocks in each plane.
__global__ void heat_3d(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    int i = (z * n + y) * n + x, plane = n * n;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - plane] +
                             in[i + plane] - 6.0f * in[i]);
}
