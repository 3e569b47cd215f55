// kernels.h -- the same as CUDA C++, written as a course would teach it.
#pragma once

inline constexpr const char *kKernels = R"(
__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

__global__ void pi_mapper(float *dest, int n)
{
    const int id = threadIdx.x + blockDim.x * blockIdx.x;
    const double x = 1.0 * id / n;
    if (id < n)
        dest[id] = 4.0 / (1.0 + x * x);
}

__global__ void tree_reduce(const float *x, float *sums)
{
    __shared__ float part[256];
    int tid = threadIdx.x;
    const float *mine = x + (size_t)blockIdx.x * 2048;
    float sum = 0;
    for (int i = tid; i < 2048; i += 256)
        sum += mine[i];
    part[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = part[0];
}

#define TILE 16
__global__ void matmul(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < n / TILE; ++t) {
        As[threadIdx.y][threadIdx.x] = A[row * n + t * TILE + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(t * TILE + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

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
)";
