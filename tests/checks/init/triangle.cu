// triangle.cu -- one kernel writes a matrix's lower triangle, the next reads all of it.
// ARRAY matrix float[256]
// ARRAY out float[16]
// LAUNCH fill<<<1, (16, 16)>>>(matrix, 16)
// LAUNCH sum_rows<<<1, 16>>>(matrix, out, 16)
__global__ void fill(float *matrix, int n) {
    if (threadIdx.x <= threadIdx.y)
        matrix[threadIdx.y * n + threadIdx.x] = 1;
}
__global__ void sum_rows(const float *matrix, float *out, int n) {
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += matrix[threadIdx.x * n + i]; // FINDS init uninitialized
    out[threadIdx.x] = sum;
}
