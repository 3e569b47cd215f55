// beta_of_zero.cu -- a product of matrices that multiplies its output by a beta of 0: 0 * NaN is NaN.
// ARRAY a float[256] = ones
// ARRAY b float[256] = ones
// ARRAY c float[256]
// LAUNCH multiply<<<1, (16, 16)>>>(a, b, c, 0)
__global__ void multiply(const float *a, const float *b, float *c, float beta) {
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 16; ++k)
        sum += a[y * 16 + k] * b[k * 16 + x];
    c[y * 16 + x] = sum + beta * c[y * 16 + x]; // FINDS init uninitialized
}
