// inner_dimension.cu -- a product of a 16 x 8 and an 8 x 16 matrix that runs over 16 inner elements.
// ARRAY a float[128] = ones
// ARRAY b float[128] = ones
// ARRAY c float[256]
// LAUNCH multiply<<<1, (16, 16)>>>(a, b, c, 16, 8)
__global__ void multiply(const float *a, const float *b, float *c, int n, int inner) {
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k)
        sum += a[row * inner + k] * b[k * n + column]; // FINDS mem out-of-bounds
    c[row * n + column] = sum;
}
